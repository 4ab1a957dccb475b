! Hearth's own calls for Fortran; hearth.h beside this file has the contract. Compile this file with the program's own
! compiler (module files differ from one to the next) and say `use hearth`:
!
!   type(c_ptr) :: p
!   real(8), pointer :: a(:)
!   p = omp_malloc_specific(int(n, c_size_t) * 8_c_size_t, OMP_MALLOC_FINE)
!   call c_f_pointer(p, a, [n])
!   ...
!   call omp_malloc_free(p)
module hearth
  use, intrinsic :: iso_c_binding, only: c_int, c_size_t, c_intptr_t, c_double, c_ptr, c_funptr
  implicit none
  private :: c_int, c_size_t, c_intptr_t, c_double, c_ptr, c_funptr

  enum, bind(c)
    enumerator :: OMP_MALLOC_STANDARD = 0
    enumerator :: OMP_MALLOC_FINE = 1
    enumerator :: OMP_MALLOC_COARSE = 2
    enumerator :: OMP_MALLOC_NEAREST = 4
    enumerator :: OMP_MALLOC_BLOCKED = 5
    enumerator :: OMP_MALLOC_INTERLEAVED = 6
  end enum

  enum, bind(c)
    enumerator :: HEARTH_READ = 1
    enumerator :: HEARTH_WRITE = 2
    enumerator :: HEARTH_READ_WRITE = 3
    enumerator :: HEARTH_DECIDES = 4
  end enum

  ! The memory manager; memory.h has the contract.
  enum, bind(c)
    enumerator :: HEARTH_MEM_DEFAULT = 0
    enumerator :: HEARTH_MEM_FIRST_TOUCH = 1
    enumerator :: HEARTH_MEM_AT = 2
    enumerator :: HEARTH_MEM_HERE = 3
    enumerator :: HEARTH_MEM_LEAST_LOADED = 4
    enumerator :: HEARTH_MEM_BY_LOAD = 5
    enumerator :: HEARTH_MEM_HUGE = 16
  end enum

  enum, bind(c)
    enumerator :: HEARTH_NOWHERE = -1
    enumerator :: HEARTH_UNTOUCHED = -2
    enumerator :: HEARTH_SEVERAL = -20
  end enum

  enum, bind(c)
    enumerator :: HEARTH_TOUCH_ANNOUNCED = 0
    enumerator :: HEARTH_TOUCH_KERNEL = 1
    enumerator :: HEARTH_TOUCH_TRAP = 2
  end enum

  enum, bind(c)
    enumerator :: HEARTH_MEM_TOTAL = 0
    enumerator :: HEARTH_MEM_FREE_BYTES = 1
    enumerator :: HEARTH_MEM_AREAS = 2
  end enum

  enum, bind(c)
    enumerator :: HEARTH_MOST_FREE = 0
    enumerator :: HEARTH_LEAST_LOADED = 1
    enumerator :: HEARTH_NEAREST = 2
  end enum

  enum, bind(c)
    enumerator :: HEARTH_THREAD = 0
    enumerator :: HEARTH_TEAM = 1
    enumerator :: HEARTH_NEXT_TEAM = 2
  end enum

  enum, bind(c)
    enumerator :: HEARTH_NOW = 0
    enumerator :: HEARTH_WHEN_ALL = 1
  end enum

  interface
    function omp_malloc(size) bind(c) result(block)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: size
      type(c_ptr) :: block
    end function
    function omp_malloc_specific(size, distribution) bind(c) result(block)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: size
      integer(c_int), value :: distribution
      type(c_ptr) :: block
    end function
    function omp_malloc_aligned(alignment, size) bind(c) result(block)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: alignment, size
      type(c_ptr) :: block
    end function
    function omp_malloc_aligned_specific(alignment, size, distribution) bind(c) result(block)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: alignment, size
      integer(c_int), value :: distribution
      type(c_ptr) :: block
    end function
    function omp_malloc_calloc(count, size) bind(c) result(block)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: count, size
      type(c_ptr) :: block
    end function
    function omp_malloc_calloc_specific(count, size, distribution) bind(c) result(block)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: count, size
      integer(c_int), value :: distribution
      type(c_ptr) :: block
    end function
    function omp_malloc_realloc(block, size) bind(c) result(moved)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: block
      integer(c_size_t), value :: size
      type(c_ptr) :: moved
    end function
    subroutine omp_malloc_free(block) bind(c)
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine

    ! `owner` is c_funloc() of: integer(c_int) function f(block, blocks, locations, data) bind(c), all by value.
    function hearth_malloc_distributed(size, block_bytes, owner, data) bind(c) result(block)
      import :: c_ptr, c_size_t, c_funptr
      integer(c_size_t), value :: size, block_bytes
      type(c_funptr), value :: owner
      type(c_ptr), value :: data
      type(c_ptr) :: block
    end function
    function hearth_malloc_weighted(size, weights, count) bind(c) result(block)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: size
      integer(c_int), intent(in) :: weights(*)
      integer(c_int), value :: count
      type(c_ptr) :: block
    end function

    integer(c_int) function hearth_num_locations() bind(c)
      import :: c_int
    end function
    integer(c_int) function hearth_num_memory_locations() bind(c)
      import :: c_int
    end function
    integer(c_int) function hearth_memory_location(index) bind(c)
      import :: c_int
      integer(c_int), value :: index
    end function
    integer(c_int) function hearth_location_node(location) bind(c)
      import :: c_int
      integer(c_int), value :: location
    end function
    integer(c_int) function hearth_location() bind(c)
      import :: c_int
    end function
    integer(c_int) function hearth_owner(address) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
    end function
    function hearth_bytes_by_location(begin, length, bytes, count) bind(c) result(unknown)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: begin
      integer(c_size_t), value :: length
      integer(c_size_t), intent(out) :: bytes(*)
      integer(c_int), value :: count
      integer(c_size_t) :: unknown
    end function

    ! Addresses are c_loc() of a variable with the target attribute.
    subroutine hearth_task_footprint(begin, length, access) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: begin
      integer(c_size_t), value :: length
      integer(c_int), value :: access
    end subroutine
    subroutine hearth_task_footprint_strided(base, rows, row_bytes, pitch, access) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: base
      integer(c_size_t), value :: rows, row_bytes, pitch
      integer(c_int), value :: access
    end subroutine
    subroutine hearth_taskloop_footprint(base, bytes_per_iteration, access) bind(c)
      import :: c_int, c_intptr_t, c_ptr
      type(c_ptr), value :: base
      integer(c_intptr_t), value :: bytes_per_iteration
      integer(c_int), value :: access
    end subroutine

    function hearth_mem_alloc(size, policy, location) bind(c) result(block)
      import :: c_ptr, c_size_t, c_int
      integer(c_size_t), value :: size
      integer(c_int), value :: policy, location
      type(c_ptr) :: block
    end function
    subroutine hearth_mem_free(block) bind(c)
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine
    integer(c_int) function hearth_mem_set_default(policy, location) bind(c)
      import :: c_int
      integer(c_int), value :: policy, location
    end function
    integer(c_int) function hearth_mem_register(address, size) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
    end function
    integer(c_int) function hearth_mem_unregister(address) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
    end function
    integer(c_int) function hearth_mem_split(address, n, parts) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
      integer(c_int), value :: n
      type(c_ptr), intent(out) :: parts(*)
    end function
    integer(c_int) function hearth_mem_locate(address, size, location) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      integer(c_int), intent(out) :: location
    end function
    integer(c_int) function hearth_mem_migrate(address, size, location) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      integer(c_int), value :: location
    end function
    integer(c_int) function hearth_mem_distribute(address, locations, n) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
      integer(c_int), intent(in) :: locations(*)
      integer(c_int), value :: n
    end function
    integer(c_int) function hearth_mem_next_touch(address, size, how) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      integer(c_int), value :: how
    end function
    integer(c_int) function hearth_mem_stats(location, figure, bytes) bind(c)
      import :: c_int, c_size_t
      integer(c_int), value :: location, figure
      integer(c_size_t), intent(out) :: bytes
    end function
    integer(c_int) function hearth_mem_select(choice, location) bind(c)
      import :: c_int
      integer(c_int), value :: choice
      integer(c_int), intent(out) :: location
    end function
    real(c_double) function hearth_cost_read(from, to, size) bind(c)
      import :: c_int, c_size_t, c_double
      integer(c_int), value :: from, to
      integer(c_size_t), value :: size
    end function
    real(c_double) function hearth_cost_write(from, to, size) bind(c)
      import :: c_int, c_size_t, c_double
      integer(c_int), value :: from, to
      integer(c_size_t), value :: size
    end function
    real(c_double) function hearth_cost_migrate(from, to, size) bind(c)
      import :: c_int, c_size_t, c_double
      integer(c_int), value :: from, to
      integer(c_size_t), value :: size
    end function

    integer(c_int) function hearth_mem_attach(address, size, who, access, passes) bind(c)
      import :: c_int, c_ptr, c_size_t, c_double
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      integer(c_int), value :: who, access
      real(c_double), value :: passes
    end function
    integer(c_int) function hearth_mem_detach(address, who) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: address
      integer(c_int), value :: who
    end function
    integer(c_int) function hearth_mem_follow(who) bind(c)
      import :: c_int
      integer(c_int), value :: who
    end function
    integer(c_int) function hearth_mem_attach_on_touch(address, size) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
    end function
    integer(c_int) function hearth_affinity(address, size, access, when) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: address
      integer(c_size_t), value :: size
      integer(c_int), value :: access, when
    end function
  end interface
end module hearth
