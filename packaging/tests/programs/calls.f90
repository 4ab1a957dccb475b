program calls
  use, intrinsic :: iso_c_binding
  use hearth
  implicit none
  type(c_ptr) :: block
  block = omp_malloc_specific(1048576_c_size_t, OMP_MALLOC_FINE)
  print '(A,I2)', merge('block', 'none ', c_associated(block)), 1
  call omp_malloc_free(block)
end program
