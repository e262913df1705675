// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/shared_mapping.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace walkhammer {
namespace {

constexpr unsigned kNoExecSeal = 8;  // MFD_NOEXEC_SEAL, which Debian 12's headers lack

// Makes memfd_create fail with `error` where its flags do (`with`) or do not have MFD_NOEXEC_SEAL.
void Refuse(int error, bool with) {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_memfd_create, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kNoExecSeal, static_cast<uint8_t>(with ? 1 : 0),
               static_cast<uint8_t>(with ? 0 : 1)),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
  };
  const sock_fprog filter = {static_cast<uint16_t>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    _exit(77);
}

// The exit code of a process that makes shared memory where the kernel refuses that: 0 if it works.
int MakesMemory(int error, bool with) {
  const pid_t child = fork();
  if (child == 0) {
    Refuse(error, with);
    const auto made = MakeSharedMemory("test", 4096);
    if (!made.ok()) _exit(1);
    static_cast<char*>(made.value().memory)[4095] = 1;
    _exit(0);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool KernelKnowsTheSeal() {
  const int fd = memfd_create("probe", MFD_CLOEXEC | kNoExecSeal);
  if (fd >= 0) close(fd);
  return fd >= 0;
}

TEST(SharedMapping, IsSealedAgainstExecution) {
  if (!KernelKnowsTheSeal()) GTEST_SKIP() << "the kernel is older than 6.3";
  const auto made = MakeSharedMemory("test", 4096);
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(fchmod(made.value().fd, 0777), -1);
  EXPECT_EQ(errno, EPERM);
  munmap(made.value().memory, 4096);
  close(made.value().fd);
}

// The kernel needs the seal (vm.memfd_noexec = 2), or does not know it.
TEST(SharedMapping, IsMadeWhateverTheKernelSaysToTheSeal) {
  for (const bool wants : {true, false}) {
    if (wants && !KernelKnowsTheSeal()) continue;
    const int code = MakesMemory(wants ? EACCES : EINVAL, !wants);
    if (code == 77) GTEST_SKIP() << "no seccomp filters here";
    EXPECT_EQ(code, 0) << wants;
  }
}

TEST(SharedMapping, AFailureOfTheKernelIsReported) {
  // With a limit on file sizes, the kernel would also send this signal.
  const auto before = signal(SIGXFSZ, SIG_IGN);
  const auto made = MakeSharedMemory("test", size_t{1} << 62);
  signal(SIGXFSZ, before);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.failure().code, ExitCode::kToolFailed);
}

}  // namespace
}  // namespace walkhammer
