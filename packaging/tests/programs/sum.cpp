#include <iostream>
#include <vector>

int main() {
  std::vector<long> parts(10, 0);
  long sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (int i = 0; i < 1000; i++) sum += i;
#pragma omp parallel
#pragma omp single
  for (long& part : parts) {
#pragma omp task firstprivate(part) shared(sum)
#pragma omp atomic
    sum += 1;
  }
  std::cout << sum << "\n";
}
