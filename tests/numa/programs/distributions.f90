! Every allocating call of the module hearth, and OpenMP's allocators with every partition trait, from Fortran, page by
! page: the kernel has to put each page where the distribution's definition says, and where Hearth says that it is.
!
! numa-test link=hearth topologies=8x1,4x4,2x2x2,holes
! numa-test name=huge-pages link=hearth topologies=8x1,holes huge-pages=always
! numa-test name=fine-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=fine
! numa-test name=coarse-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=coarse
! numa-test name=blocked-by-environment link=hearth topologies=8x1 OMP_DATA_DISTRIBUTION=blocked
! numa-test name=1GiB link=hearth topologies=2x1 args=large seconds=600
! numa-test name=1GiB-huge-pages link=hearth topologies=2x1 args=large huge-pages=always seconds=600

! The kernel's call.
module kernel
  use, intrinsic :: iso_c_binding
  implicit none
  integer(c_long), parameter :: move_pages = 279

  interface
    integer(c_long) function syscall(number, process, count, pages, nodes, status, flags) bind(c)
      import :: c_long, c_ptr, c_int
      integer(c_long), value :: number, process, count, flags
      type(c_ptr), intent(in) :: pages(*)
      type(c_ptr), value :: nodes
      integer(c_int), intent(out) :: status(*)
    end function
  end interface
end module

module checks
  use, intrinsic :: iso_c_binding
  use hearth
  use kernel
  implicit none
  integer(c_size_t), parameter :: page = 4096
  integer, parameter :: fine = 1, blocked = 2, whole = 3, standard = 4
  integer, allocatable :: node_of_home(:), location_of_home(:)
  integer :: homes
contains
  subroutine list_homes()
    integer :: i
    homes = hearth_num_memory_locations()
    location_of_home = [(hearth_memory_location(i - 1), i = 1, homes)]
    node_of_home = [(hearth_location_node(location_of_home(i)), i = 1, homes)]
  end subroutine

  subroutine fail(what)
    character(*), intent(in) :: what
    print '(2a)', 'wrong: ', what
    error stop 1
  end subroutine

  ! Where each page of a block lies, by home from 0, after the bytes were held against the kind of block that it is.
  subroutine look(block, size, zeroed, homes_of_pages)
    type(c_ptr), intent(in) :: block
    integer(c_size_t), intent(in) :: size
    logical, intent(in) :: zeroed
    integer, allocatable, intent(out) :: homes_of_pages(:)
    integer, parameter :: at_once = 1024
    character(c_char), pointer :: bytes(:)
    type(c_ptr) :: pages(at_once)
    integer(c_int) :: status(at_once)
    integer(c_size_t) :: told(64), sums(64), length, total, p, q, some
    integer :: i
    if (.not. c_associated(block)) call fail('no memory')
    call c_f_pointer(block, bytes, [size])
    total = (size + page - 1) / page
    allocate (homes_of_pages(total))
    if (zeroed) then
      do p = 1, size, merge(1_c_size_t, page, size < 2_c_size_t**26)
        if (bytes(p) /= c_null_char) call fail('calloc')
      end do
    end if
    do p = 0, total - 1
      bytes(p * page + 1) = 'x'
    end do
    sums = 0
    do p = 0, total - 1, at_once
      length = min(int(at_once, c_size_t), total - p)
      do q = 1, length
        pages(q) = c_loc(bytes((p + q - 1) * page + 1))
      end do
      if (syscall(move_pages, 0_c_long, int(length, c_long), pages, c_null_ptr, status, 0_c_long) /= 0) &
        call fail('move_pages')
      do q = 1, length
        i = findloc(node_of_home, int(status(q)), 1)
        if (i == 0) call fail('a page on a node that is no home')
        homes_of_pages(p + q) = i - 1
        associate (sum => sums(location_of_home(i) + 1))
          sum = sum + min(page, size - (p + q - 1) * page)
        end associate
      end do
    end do
    if (hearth_bytes_by_location(block, size, told, 64) /= 0) call fail('unknown bytes')
    if (any(told /= sums)) call fail('bytes by location')
    some = total / 3
    if (hearth_owner(c_loc(bytes(some * page + 1))) /= location_of_home(homes_of_pages(some + 1) + 1)) call fail('owner')
  end subroutine

  subroutine check(block, size, kind, zeroed)
    type(c_ptr), intent(in) :: block
    integer(c_size_t), intent(in) :: size
    integer, intent(in) :: kind
    logical, intent(in) :: zeroed
    integer, allocatable :: at(:)
    integer :: n, i, parts(64)
    if (kind == standard) then
      if (.not. c_associated(block)) call fail('no memory')
      return
    end if
    call look(block, size, zeroed, at)
    n = ubound(at, 1)
    select case (kind)
    case (fine)
      if (any(at(2:) /= modulo(at(:n - 1) + 1, homes))) call fail('fine')
    case (blocked)
      if (any(at(2:) < at(:n - 1))) call fail('order of the parts')
      parts(:homes) = [(count(at == i - 1), i = 1, homes)]
      if (maxval(parts(:homes)) - minval(parts(:homes)) > merge(1024, 1, n / homes >= 4096)) call fail('unequal parts')
    case (whole)
      if (any(at /= at(1))) call fail('more than one home')
    end select
  end subroutine

  integer(c_int) function pairs(block, blocks, locations, data) bind(c)
    integer(c_size_t), value :: block, blocks
    integer(c_int), value :: locations
    type(c_ptr), value :: data
    pairs = int(mod(block / 2, int(locations, c_size_t)), c_int)
    if (blocks <= block .or. c_associated(data)) pairs = -1
  end function
end module

program distributions
  use, intrinsic :: iso_c_binding
  use omp_lib
  use hearth
  use kernel
  use checks
  implicit none
  integer(c_size_t), parameter :: gib = 2_c_size_t**30, alignment = 65536
  integer(c_size_t), parameter :: sizes(4) = [page, 4 * page, 64 * page - 17, 800 * page]
  integer(c_int), parameter :: kinds(5) = [OMP_MALLOC_FINE, OMP_MALLOC_INTERLEAVED, OMP_MALLOC_BLOCKED, &
                                           OMP_MALLOC_NEAREST, OMP_MALLOC_COARSE]
  integer, parameter :: expected(5) = [fine, fine, blocked, whole, whole]
  integer(omp_alloctrait_val_kind), parameter :: partitions(3) = [omp_atv_interleaved, omp_atv_blocked, omp_atv_nearest]
  integer, parameter :: expected_partitions(3) = [fine, blocked, whole]
  integer(omp_memspace_handle_kind), parameter :: spaces(5) = [omp_default_mem_space, omp_large_cap_mem_space, &
      omp_const_mem_space, omp_high_bw_mem_space, omp_low_lat_mem_space]
  character(16) :: word
  integer :: i, k, form

  call list_homes()
  call get_environment_variable('OMP_DATA_DISTRIBUTION', word)
  if (word /= '') then
    call what_the_environment_says()
  else if (command_argument_count() > 0) then
    do k = 1, 5
      call by_hearth(modulo(k, 4), k, gib)
    end do
    do form = 1, 5
      call by_openmp(form - 1, modulo(form, 3) + 1, omp_default_mem_space, gib)
    end do
    call own_distributions(gib)
  else
    do i = 1, 4
      do k = 1, 5
        do form = 0, 3
          call by_hearth(form, k, sizes(i))
        end do
      end do
      do k = 1, 3
        do form = 0, 4
          call by_openmp(form, k, spaces(modulo(i + form, 5) + 1), sizes(i))
        end do
      end do
    end do
    call own_distributions(800 * page)
  end if
  print '(a, i0, a)', 'distributions: ', homes, ' nodes, all as expected'

contains

  subroutine by_hearth(form, k, size)
    integer, intent(in) :: form, k
    integer(c_size_t), intent(in) :: size
    type(c_ptr) :: p
    select case (form)
    case (0)
      p = omp_malloc_specific(size, kinds(k))
    case (1)
      p = omp_malloc_aligned_specific(alignment, size, kinds(k))
      if (modulo(transfer(p, 0_c_intptr_t), alignment) /= 0) call fail('alignment')
    case (2)
      p = omp_malloc_calloc_specific(1_c_size_t, size, kinds(k))
    case default
      p = omp_malloc_realloc(omp_malloc_specific(2 * page, kinds(k)), size)
    end select
    call check(p, size, expected(k), form == 2)
    call omp_malloc_free(p)
  end subroutine

  subroutine by_openmp(form, k, space, size)
    integer, intent(in) :: form, k
    integer(omp_memspace_handle_kind), intent(in) :: space
    integer(c_size_t), intent(in) :: size
    integer(omp_allocator_handle_kind) :: allocator
    type(omp_alloctrait) :: traits(2)
    type(c_ptr) :: p
    traits(1) = omp_alloctrait(omp_atk_partition, partitions(k))
    traits(2) = omp_alloctrait(omp_atk_fallback, omp_atv_null_fb)
    allocator = omp_init_allocator(space, 2, traits)
    select case (form)
    case (0)
      p = omp_alloc(size, allocator)
    case (1)
      p = omp_aligned_alloc(alignment, size, allocator)
      if (modulo(transfer(p, 0_c_intptr_t), alignment) /= 0) call fail('alignment')
    case (2)
      p = omp_calloc(size, 1_c_size_t, allocator)
    case (3)
      p = omp_aligned_calloc(alignment, size, 1_c_size_t, allocator)
    case default
      p = omp_realloc(omp_alloc(2 * page, allocator), size, allocator, allocator)
    end select
    call check(p, size, expected_partitions(k), form == 2 .or. form == 3)
    call omp_free(p, allocator)
    call omp_destroy_allocator(allocator)
  end subroutine

  subroutine own_distributions(size)
    integer(c_size_t), intent(in) :: size
    integer, allocatable :: at(:)
    integer(c_size_t) :: parts(3), n
    type(c_ptr) :: p
    integer :: j
    parts = [page, 16 * page, size / 100]  ! more pieces than the kernel keeps policies for, and fewer
    do j = 1, 3
      parts(j) = (parts(j) + page - 1) / page * page
      p = hearth_malloc_distributed(size, parts(j), c_funloc(pairs), c_null_ptr)
      call look(p, size, .false., at)
      do n = 0, ubound(at, 1) - 1
        if (at(n + 1) /= modulo(n * page / parts(j) / 2, int(homes, c_size_t))) call fail('a distribution of its own')
      end do
      call omp_malloc_free(p)
    end do
    p = hearth_malloc_weighted(size, [3_c_int, 1_c_int], 2)
    call look(p, size, .false., at)
    if (count(at == 0) /= 3 * count(at == 1) .or. any(at > 1)) call fail('weights')
    call omp_malloc_free(p)
  end subroutine

  subroutine what_the_environment_says()
    integer :: kind, j
    type(c_ptr) :: p
    kind = whole
    if (word == 'fine') kind = fine
    if (word == 'blocked') kind = blocked
    do j = 1, 4
      p = omp_malloc(sizes(j))
      call check(p, sizes(j), kind, .false.)
      call omp_malloc_free(p)
      p = omp_malloc_aligned(alignment, sizes(j))
      call check(p, sizes(j), kind, .false.)
      call omp_malloc_free(p)
      p = omp_malloc_calloc(sizes(j), 1_c_size_t)
      call check(p, sizes(j), kind, .true.)
      p = omp_malloc_realloc(p, 2 * sizes(j))
      call check(p, 2 * sizes(j), kind, .false.)
      call omp_malloc_free(p)
    end do
  end subroutine
end program
