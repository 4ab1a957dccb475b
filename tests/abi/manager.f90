! The memory manager's part of include/hearth/hearth.f90 as a program uses it, on a pretended machine of eight nodes.
program manager
  use, intrinsic :: iso_c_binding
  use hearth
  implicit none
  integer(c_size_t), parameter :: page = 4096
  integer(c_int), parameter :: turns(2) = [6, 1]
  type(c_ptr) :: block, parts(2)
  integer(c_int) :: where
  integer(c_size_t) :: bytes
  real(8), allocatable, target :: own(:)

  block = hearth_mem_alloc(10 * page, HEARTH_MEM_AT, 3)
  if (.not. c_associated(block)) error stop "alloc"
  call expect(hearth_mem_locate(block, 0_c_size_t, where), "locate")
  if (where /= 3) error stop "at 3"
  call expect(hearth_mem_split(block, 2, parts), "split")
  call expect(hearth_mem_migrate(parts(2), 0_c_size_t, 5), "migrate")
  call expect(hearth_mem_locate(block, 10 * page, where), "locate")
  if (where /= HEARTH_SEVERAL) error stop "several"
  call expect(hearth_mem_stats(5, HEARTH_MEM_AREAS, bytes), "stats")
  if (bytes /= 5 * page) error stop "areas"
  call expect(hearth_mem_distribute(parts(1), turns, 2), "distribute")
  call expect(hearth_mem_locate(parts(1), page, where), "locate")
  if (where /= 6) error stop "turn"
  if (hearth_mem_migrate(parts(2), 0_c_size_t, 5) /= -1) error stop "already"
  call hearth_mem_free(block)

  allocate (own(100000))
  call expect(hearth_mem_register(c_loc(own), 800000_c_size_t), "register")
  call expect(hearth_mem_next_touch(c_loc(own), 800000_c_size_t, HEARTH_TOUCH_ANNOUNCED), "next touch")
  call expect(hearth_mem_unregister(c_loc(own(5000))), "unregister")
  call expect(hearth_mem_set_default(HEARTH_MEM_FIRST_TOUCH, 0), "default")
  call expect(hearth_mem_select(HEARTH_LEAST_LOADED, where), "select")
  if (hearth_cost_read(0, 1, page) <= hearth_cost_read(0, 0, page)) error stop "read"
  if (hearth_cost_write(0, 1, page) <= 0 .or. hearth_cost_migrate(0, 1, page) <= 0) error stop "costs"
  print '(a)', "right"
contains
  subroutine expect(result, what)
    integer(c_int), intent(in) :: result
    character(*), intent(in) :: what
    if (result /= 0) error stop what
  end subroutine
end program
