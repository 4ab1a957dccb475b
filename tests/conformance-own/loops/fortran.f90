! Worksharing as gfortran compiles it: loops, sections, single with copyprivate, ordered, workshare.
! also-on: opteron-6172x4
program loops
  use omp_lib
  implicit none
  integer :: hits(1000), i, r, told, failures, next, wrong, last
  integer(8) :: j, total
  integer :: a(100), b(100)
  failures = 0
  hits = 0
  do r = 1, 10
    !$omp parallel private(told)
    !$omp do schedule(dynamic, 3)
    do i = 1, 1000
      !$omp atomic
      hits(i) = hits(i) + 1
    end do
    !$omp end do nowait
    !$omp do schedule(guided)
    do i = 1000, 1, -1
      !$omp atomic
      hits(i) = hits(i) + 1
    end do
    !$omp do schedule(static, 7)
    do i = 1, 1000
      !$omp atomic
      hits(i) = hits(i) + 1
    end do
    !$omp single
    told = 41 + r
    !$omp end single copyprivate(told)
    if (told /= 41 + r) then
      !$omp atomic
      failures = failures + 1
    end if
    !$omp end parallel
  end do
  if (any(hits /= 30)) then
    print *, 'loops: an iteration did not run 30 times'
    failures = failures + 1
  end if

  total = 0
  !$omp parallel do reduction(+:total) lastprivate(last) schedule(dynamic)
  do j = 1_8, 5000_8
    total = total + j
    last = int(j)
  end do
  if (total /= 12502500_8 .or. last /= 5000) then
    print *, 'reduction, lastprivate:', total, last
    failures = failures + 1
  end if

  next = 1
  wrong = 0
  !$omp parallel do ordered schedule(dynamic)
  do i = 1, 300
    !$omp ordered
    if (next /= i) wrong = wrong + 1
    next = next + 1
    !$omp end ordered
  end do
  if (wrong /= 0 .or. next /= 301) then
    print *, 'ordered:', wrong, next
    failures = failures + 1
  end if

  a = 1
  !$omp parallel workshare
  b = a * 2
  a = b + 1
  !$omp end parallel workshare
  if (any(a /= 3)) then
    print *, 'workshare'
    failures = failures + 1
  end if
  if (failures /= 0) stop 1
end program loops
