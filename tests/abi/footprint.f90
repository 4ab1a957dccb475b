! The calls about footprints in Fortran, on a pretended machine of eight nodes.
program footprint
  use, intrinsic :: iso_c_binding
  use hearth
  implicit none
  integer, parameter :: n = 64, page_words = 512
  integer(c_size_t), parameter :: page = 4096
  real(8), pointer :: a(:, :)
  type(c_ptr) :: p
  integer :: i

  p = omp_malloc_specific(n * page, OMP_MALLOC_FINE)
  call c_f_pointer(p, a, [page_words, n])
  a = 0
  !$omp parallel
  !$omp single
  do i = 1, n
    call hearth_task_footprint(c_loc(a(1, i)), page, HEARTH_READ_WRITE)
    !$omp task firstprivate(i)
    a(:, i) = a(:, i) + i
    !$omp end task
  end do
  !$omp taskwait
  call hearth_task_footprint_strided(c_loc(a(1, 1)), int(n, c_size_t), 8_c_size_t, page, HEARTH_READ + HEARTH_DECIDES)
  !$omp task
  if (any(a(1, :) /= [(real(i, 8), i = 1, n)])) error stop "tasks"
  !$omp end task
  !$omp taskwait
  call hearth_taskloop_footprint(c_loc(a(1, n)), int(-page, c_intptr_t), HEARTH_WRITE)
  !$omp taskloop
  do i = n, 1, -1
    a(:, i) = 2 * i
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  do i = 1, n
    if (any(a(:, i) /= 2 * i)) error stop "taskloop"
  end do
  call omp_malloc_free(p)
  print *, "right"
end program
