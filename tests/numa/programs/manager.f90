! The memory manager's calls from Fortran on real nodes, page by page: the kernel has to say of each page what the call has
! promised, and arrays keep their content.
!
! numa-test link=hearth topologies=8x1,4x4,holes
! numa-test name=refused link=hearth topologies=8x1,4x4,holes refuse=mbind,move_pages args=refused

module kernel_of_manager
  use, intrinsic :: iso_c_binding
  use hearth
  implicit none
  integer(c_long), parameter :: move_pages = 279
  integer(c_size_t), parameter :: page = 4096

  interface
    integer(c_long) function syscall(number, process, count, pages, nodes, status, flags) bind(c)
      import :: c_long, c_ptr, c_int
      integer(c_long), value :: number, process, count, flags
      type(c_ptr), intent(in) :: pages(*)
      type(c_ptr), value :: nodes
      integer(c_int), intent(out) :: status(*)
    end function
  end interface
contains
  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(2a)', 'wrong: ', what
    error stop 1
  end subroutine

  ! Each of the pages of these doubles is on this node.
  subroutine expect_at(values, node, what)
    real(c_double), intent(in), target :: values(:)
    integer, intent(in) :: node
    character(*), intent(in) :: what
    type(c_ptr) :: address(1)
    integer(c_int) :: status(1)
    integer :: p
    do p = 1, size(values), int(page / 8)
      address(1) = c_loc(values(p))
      call expect(syscall(move_pages, 0_c_long, 1_c_long, address, c_null_ptr, status, 0_c_long) == 0, 'query')
      call expect(status(1) == node, what)
    end do
  end subroutine
end module

program manager
  use omp_lib
  use kernel_of_manager
  implicit none
  integer, parameter :: pages = 1200, per_page = int(page / 8), members = 4, part = pages / members
  integer :: homes, i, first, last, nodes(64), locations(64), where(0:members - 1), me
  integer(c_int) :: found
  integer(c_size_t) :: bytes
  type(c_ptr) :: block, parts(4)
  real(c_double), pointer :: values(:)
  character(16) :: what

  homes = hearth_num_memory_locations()
  locations(:homes) = [(hearth_memory_location(i - 1), i = 1, homes)]
  nodes(:homes) = [(hearth_location_node(locations(i)), i = 1, homes)]
  call get_command_argument(1, what)
  bytes = pages * page
  block = hearth_mem_alloc(bytes, HEARTH_MEM_AT, locations(1))
  call expect(c_associated(block), 'alloc')
  call c_f_pointer(block, values, [pages * per_page])
  values = [(real(i, c_double), i = 1, size(values))]

  if (what == 'refused') then
    call expect(hearth_mem_migrate(block, bytes, locations(2)) == -1, 'a refused move says so')
    call expect(hearth_mem_distribute(block, locations, 2) == -1, 'a refused distribution says so')
    call expect(hearth_mem_next_touch(block, bytes, HEARTH_TOUCH_ANNOUNCED) == 0, 'announce')
    call expect(hearth_mem_attach(block, bytes, HEARTH_TEAM, HEARTH_WRITE, 2.0_c_double) == 0, 'attach')
    call expect(hearth_mem_follow(HEARTH_TEAM) == -1, 'a refused follow says so')
  else
    call expect_at(values, nodes(1), 'at')
    do i = homes, 1, -1
      call expect(hearth_mem_migrate(block, bytes, locations(i)) == 0, 'migrate')
      call expect_at(values, nodes(i), 'migrated')
      call expect(hearth_mem_locate(block, bytes, found) == 0 .and. found == locations(i), 'locate')
    end do
    call expect(hearth_mem_distribute(block, locations(homes:1:-1), homes) == 0, 'distribute')
    do i = 1, pages
      call expect_at(values((i - 1) * per_page + 1:i * per_page), nodes(homes - modulo(i - 1, homes)), 'in turn')
    end do
    call expect(hearth_mem_split(block, members, parts) == 0, 'split')
    do i = 1, members
      found = hearth_mem_migrate(parts(i), 0_c_size_t, locations(1 + modulo(i, homes)))
      call expect_at(values((i - 1) * part * per_page + 1:i * part * per_page), nodes(1 + modulo(i, homes)), 'parts')
    end do
    ! Each member has its part follow it, then the next touch.
    !$omp parallel num_threads(members) private(me, first, last, i)
    me = omp_get_thread_num()
    where(me) = hearth_location()
    call expect(hearth_mem_attach(parts(me + 1), 0_c_size_t, HEARTH_THREAD, HEARTH_READ_WRITE, 1.0_c_double) == 0, 'attach')
    i = hearth_mem_follow(HEARTH_THREAD)
    call expect(hearth_mem_detach(parts(me + 1), HEARTH_THREAD) == 0, 'detach')
    !$omp end parallel
    ! The primary thread is not bound, and may have left its seat.
    do me = 1, members - 1
      i = findloc(locations(:homes), where(me), 1)
      if (i /= 0) call expect_at(values(me * part * per_page + 1:(me + 1) * part * per_page), nodes(i), 'followed')
    end do
    do i = 1, members
      found = hearth_mem_migrate(parts(i), 0_c_size_t, locations(homes))
      call expect(hearth_mem_attach_on_touch(parts(i), 0_c_size_t) == 0, 'attach on touch')
    end do
    !$omp parallel num_threads(members)
    call expect(hearth_affinity(parts(omp_get_thread_num() + 1), 0_c_size_t, HEARTH_WRITE, HEARTH_WHEN_ALL) == 0, 'affinity')
    !$omp end parallel
    call expect(hearth_mem_stats(locations(homes), HEARTH_MEM_TOTAL, bytes) == 0 .and. bytes > 50 * 2**20, 'stats')
    call expect(hearth_mem_select(HEARTH_MOST_FREE, found) == 0, 'select')
    call expect(any(locations(:homes) == found), 'selected')
    call expect(hearth_cost_read(locations(1), locations(homes), page) >= hearth_cost_read(locations(1), locations(1), page), &
                'costs')
  end if
  call expect(all(values == [(real(i, c_double), i = 1, size(values))]), 'content')
  call hearth_mem_free(block)
  print '(a)', 'right'
end program
