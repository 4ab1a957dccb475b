/* Calls an entry point that is exported, but not there. */
void ENTRY(void);

int main(void) {
  ENTRY();
  return 0;
}
