// SPDX-License-Identifier: Apache-2.0
// How tests of the parent's side start children without a JVM: testing/fake_child.cc.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_FAKE_CHILD_TESTING_H_
#define WALKHAMMER_HARNESS_SUPERVISE_FAKE_CHILD_TESTING_H_

#include <string>
#include <vector>

#include "harness/base/names.h"
#include "harness/process/scratch.h"
#include "harness/supervise/child_process.h"

namespace walkhammer {

// A setup whose first child does the first of `lives`, the second the second, and all further ones
// the last. A life is a string of arguments for fake_child. `scratch` must outlive the children.
inline ChildSetup FakeChildren(const ScratchFolder& scratch,
                               const std::vector<std::string>& lives) {
  const std::string born = scratch.path() + "/lives";
  std::string script = "n=0; mkdir -p " + born + "; until mkdir " + born +
                       "/$n 2>/dev/null; do n=$((n + 1)); done; case $n in";
  for (size_t i = 0; i < lives.size(); i++)
    script +=
        " " + (i + 1 < lives.size() ? std::to_string(i) : "*") + ") exec \"$0\" " + lives[i] + ";;";
  ChildSetup setup;
  setup.scratch = scratch.path();
  setup.command = {"sh", "-c", script + " esac", BesideExecutable("fake_child")};
  return setup;
}

// A step of a life: the JVM writes that the process `pid` has sent it a SIGSEGV.
inline std::string HsErrOfSignalBy(int pid) {
  return "hs_err='SIGSEGV (0xb) at pc=0x1, pid=1, tid=1\n"
         "siginfo: si_signo: 11 (SIGSEGV), si_code: 0 (SI_USER), si_pid: " +
         std::to_string(pid) + "'";
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_FAKE_CHILD_TESTING_H_
