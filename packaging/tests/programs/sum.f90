program sums
  implicit none
  integer :: i, total
  total = 0
  !$omp parallel do reduction(+ : total)
  do i = 0, 999
    total = total + i
  end do
  !$omp parallel
  !$omp single
  do i = 1, 10
    !$omp task shared(total)
    !$omp atomic
    total = total + 1
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  print '(I0)', total
end program
