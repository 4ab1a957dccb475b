! The module of include/hearth/hearth.f90 as a program uses it, on a pretended machine of eight nodes.
module cyclic
  use, intrinsic :: iso_c_binding
  implicit none
contains
  integer(c_int) function pairs(block, blocks, locations, data) bind(c)
    integer(c_size_t), value :: block, blocks
    integer(c_int), value :: locations
    type(c_ptr), value :: data
    pairs = int(mod(block / 2, int(locations, c_size_t)), c_int)
    if (blocks /= 40 .or. c_associated(data)) pairs = -1
  end function
end module

program memory
  use, intrinsic :: iso_c_binding
  use hearth
  use cyclic
  implicit none
  integer(c_size_t), parameter :: page = 4096
  integer(c_size_t) :: bytes(8), i
  type(c_ptr) :: p
  character(c_char), pointer :: at(:)

  if (hearth_num_locations() /= 8) error stop "locations"
  p = omp_malloc_specific(64 * page, OMP_MALLOC_FINE)
  if (hearth_bytes_by_location(p, 64 * page, bytes, 8) /= 0) error stop "unknown bytes"
  if (any(bytes /= 8 * page)) error stop "fine"
  call omp_malloc_free(p)

  p = omp_malloc(8 * page)
  if (hearth_bytes_by_location(p, 8 * page, bytes, 8) /= 0) error stop "unknown bytes of the global distribution"
  if (count(bytes /= 0) /= 1) error stop "OMP_DATA_DISTRIBUTION=coarse"
  p = omp_malloc_realloc(p, 80 * page)
  if (hearth_bytes_by_location(p, 80 * page, bytes, 8) /= 0 .or. count(bytes /= 0) /= 1) error stop "realloc"
  call omp_malloc_free(p)

  p = hearth_malloc_distributed(40 * page, page, c_funloc(pairs), c_null_ptr)
  call c_f_pointer(p, at, [40 * page])
  do i = 0, 39
    if (hearth_owner(c_loc(at(i * page + 1))) /= mod(i / 2, 8_c_size_t)) error stop "distribution of its own"
  end do
  call omp_malloc_free(p)

  p = hearth_malloc_weighted(16 * page, [1_c_int, 3_c_int], 2)
  if (hearth_bytes_by_location(p, 16 * page, bytes, 8) /= 0) error stop "unknown weighted bytes"
  if (bytes(1) /= 4 * page .or. bytes(2) /= 12 * page) error stop "weighted"
  call omp_malloc_free(p)
  print *, "right"
end program
