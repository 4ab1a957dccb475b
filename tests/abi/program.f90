! The Fortran forms of what most programs use.
program hearth_fortran
  use omp_lib
  implicit none
  integer :: total, locked, threads
  integer (omp_lock_kind) :: lock
  integer, external :: only_hearth_is_mapped
  total = 0
  locked = 0
  threads = 0
  call omp_init_lock (lock)
  !$omp parallel num_threads (4)
  !$omp critical
  total = total + 1
  !$omp end critical
  call omp_set_lock (lock)
  locked = locked + 1
  call omp_unset_lock (lock)
  !$omp barrier
  if (omp_get_thread_num () == 0) threads = omp_get_num_threads ()
  !$omp end parallel
  call omp_destroy_lock (lock)
  if (total /= threads .or. locked /= threads .or. threads < 1) then
    print *, 'wrong', total, locked, threads
    stop 1
  end if
  if (only_hearth_is_mapped () /= 1) then
    print *, 'another runtime is mapped'
    stop 1
  end if
  print *, 'right', threads
end program
