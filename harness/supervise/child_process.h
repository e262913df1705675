// SPDX-License-Identifier: Apache-2.0
// ChildProcess: one walkhammer_child, from the parent's side. A dead child is a result, never an
// error of the tool. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/ipc/shared_mapping.h"
#include "harness/jvm/images/platform.h"
#include "harness/process/log_file.h"
#include "harness/process/spawn.h"

namespace walkhammer {

// How to start children for one JDK.
struct ChildSetup {
  std::string libjvm;
  Platform platform = OwnPlatform();   // Jdk::platform of that JDK
  std::vector<std::string> jvm_flags;  // the user's; they override walkhammer's own
  bool aslr = true;                    // false: addresses repeat from run to run
  std::string scratch;                 // existing folder for the child's output and hs_err logs
  // Program and arguments, launcher included, of a fuzz engine that hosts the JVM; empty:
  // walkhammer_child.
  std::vector<std::string> command = {};
  std::vector<std::string> environment = {};  // NAME=VALUE, added to this process's
  int ask_to_stop = 0;  // signal that asks the command to end; 0: it reads SharedState::stop
  // The command is an engine that starts the children, one after the other, and posts their ends in
  // SharedState::exits.
  bool keeps_children = false;
  std::string provider = {};  // a library that stands in for libjvm, see WalkerInfo::replaceable
  std::string cores =
      {};  // existing folder in which the child runs and leaves its core; empty: none
};

class ChildProcess {
 public:
  // Starts a child that does the job of `shared`. `shared` must outlive the child.
  static Result<std::unique_ptr<ChildProcess>> Start(SharedMapping& shared,
                                                     const ChildSetup& setup);
  ~ChildProcess();  // kills and reaps the child if it still runs; removes its files
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // True once the child has ended and is reaped; wait_status() is valid then. Also keeps the
  // child's log small, so the parent calls this several times a second.
  bool HasEnded();
  void Kill() { process_.Kill(); }                      // SIGKILL to its group; does not wait
  void Signal(int signal) { process_.Signal(signal); }  // no-op once the child has ended
  int wait_status() const { return process_.wait_status(); }
  bool ExitedCleanly() const { return process_.ExitedCleanly(); }
  pid_t pid() const { return process_.pid(); }

  std::optional<bool> IsAslrOff() const { return process_.IsAslrOff(); }  // see Spawned

  // The last `most` bytes that the child printed, at most LogFile::kKept; empty: none.
  std::string Output(size_t most = LogFile::kKept) const { return log_.End(most); }
  std::string HsErr() const;  // the first 1 MiB of its hs_err log; empty: none
  // What killed the child from outside: "SIGKILL (...)", such as the kernel sends when memory runs
  // out, or, as its hs_err log says, "SIGSEGV of pid 4711"; else empty. `wait_status`: as waitpid
  // gives it, also of a child that an engine has reaped. `by_us`: a SIGKILL came from us.
  std::string KilledFromOutside(int wait_status, bool by_us) const;
  void DropHsErr();  // removes the log of a child that the engine had started

 private:
  ChildProcess() = default;

  Spawned process_;
  LogFile log_;
  std::string scratch_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_
