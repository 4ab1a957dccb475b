// `error` directives at execution: a warning without a message, one with, a very long one, and a fatal one.
#define TEN(text) text text text text text text text text text text
int main(void) {
#pragma omp error at(execution) severity(warning)
#pragma omp error at(execution) severity(warning) message("beware")
#pragma omp error at(execution) severity(warning) message(TEN(TEN(TEN("long "))) "tail")
#pragma omp error at(execution) severity(fatal) message("the end")
  return 0;
}
