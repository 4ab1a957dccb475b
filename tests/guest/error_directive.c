// `error` directives at execution: a warning without a message, one with, and a fatal one.
int main(void) {
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message("beware")
#pragma omp error at(execution) severity(fatal) message("the end")
  return 0;
}
