// SPDX-License-Identifier: Apache-2.0
// ChildProcess: one walkhammer_child, from the parent's side. A dead child is a result, never an
// error of the tool. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_
#define WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/jvm/images/platform.h"
#include "harness/process/spawn.h"
#include "harness/shared/shared_mapping.h"

namespace walkhammer {

// How to start children for one JDK.
struct ChildSetup {
  std::string libjvm;
  Platform platform = OwnPlatform();   // as Jdk has it
  std::vector<std::string> jvm_flags;  // the user's; they win over walkhammer's own
  bool aslr = true;                    // false: addresses repeat from run to run
  std::string scratch;                 // existing folder for what the JVM prints and hs_err logs
  // What to run: walkhammer_child, or a fuzz engine that hosts the JVM, as Platform::Command has
  // it.
  std::vector<std::string> command = {};
  std::vector<std::string> environment = {};  // NAME=VALUE, added to ours
  int ask_to_stop = 0;  // signal that asks it to end, where SharedState::stop is not looked at
  // It is an engine that starts one child after the other; they end in SharedState::exits.
  bool keeps_children = false;
  std::string provider = {};  // a library that stands in for libjvm, see WalkerInfo::replaceable
};

class ChildProcess {
 public:
  // Starts a child that does `shared`'s job. `shared` must outlive it.
  static Result<std::unique_ptr<ChildProcess>> Start(SharedMapping& shared,
                                                     const ChildSetup& setup);
  ~ChildProcess();  // kills and reaps it if it still runs
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // True once it has ended; wait_status is valid then.
  bool HasEnded() { return process_.HasEnded(); }
  void Kill() { process_.Kill(); }                      // with all that it started
  void Signal(int signal) { process_.Signal(signal); }  // no-op once it has ended
  int wait_status() const { return process_.wait_status(); }
  bool ExitedCleanly() const { return process_.ExitedCleanly(); }
  pid_t pid() const { return process_.pid(); }

  // What it printed, and the hs_err log it wrote, both empty if nothing.
  std::string Output() const;
  std::string HsErr() const;
  void DropHsErr();  // it told of a child of this one

 private:
  ChildProcess() = default;

  Spawned process_;
  std::string scratch_;
  std::string log_path_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SUPERVISE_CHILD_PROCESS_H_
