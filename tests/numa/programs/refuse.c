// A container that forbids calls, in one small program: installs a seccomp filter that answers EPERM to the
// calls that are named, then becomes the given program. Docker's default profile does the same to these calls
// without CAP_SYS_NICE.
//
// Usage: refuse CALL[,CALL...] -- PROGRAM [ARGUMENT...]     CALL: mbind, move_pages, set_mempolicy,
// get_mempolicy, ...
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "pages.h"

static const struct {
  const char* name;
  unsigned number;
} kCalls[] = {{"mbind", SYS_mbind},
              {"move_pages", SYS_move_pages},
              {"migrate_pages", SYS_migrate_pages},
              {"set_mempolicy", SYS_set_mempolicy},
              {"get_mempolicy", SYS_get_mempolicy},
              {"process_vm_readv", SYS_process_vm_readv},
              {"sched_setaffinity", SYS_sched_setaffinity}};
enum { kCallCount = sizeof kCalls / sizeof kCalls[0] };

static unsigned number_of(const char* name) {
  for (int i = 0; i < kCallCount; ++i) {
    if (strcmp(kCalls[i].name, name) == 0) return kCalls[i].number;
  }
  fprintf(stderr, "refuse: unknown call \"%s\"\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc < 4 || strcmp(argv[2], "--") != 0) {
    fprintf(stderr, "usage: refuse CALL[,CALL...] -- PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  struct sock_filter code[4 + 2 * kCallCount + 1];
  unsigned short length = 0;
  code[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  int named = 0;
  for (char* name = strtok(argv[1], ","); name != NULL; name = strtok(NULL, ",")) {
    CHECK(named++ < kCallCount);
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number_of(name), 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  struct sock_fprog filter = {length, code};
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0);
  execvp(argv[3], argv + 3);
  perror(argv[3]);
  return 127;
}
