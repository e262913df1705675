// SPDX-License-Identifier: Apache-2.0
// Program: a workload's process, from its supervisor's side: starts it, keeps the end of what it
// prints, ends it with all that it started. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_
#define WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/process/spawn.h"

namespace walkhammer {

// CPU time that a process has used, 0 if it is gone.
uint64_t CpuMsOf(pid_t pid);
// False for one that has ended and was not waited for yet, too.
bool IsAlive(pid_t pid);

struct ProgramSetup {
  std::vector<std::string> arguments;    // the program first
  std::vector<std::string> environment;  // NAME=VALUE, added to ours and stronger
  std::string directory;                 // to run in
  std::vector<int> inherited;            // descriptors that it keeps under the same number
};

class Program {
 public:
  static Result<std::unique_ptr<Program>> Start(const ProgramSetup& setup);
  ~Program();  // it and all that it started are killed
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Takes in what it has printed. True once it has ended; wait_status is valid then.
  bool HasEnded();
  void Terminate() { process_.Signal(SIGTERM); }  // asks it to end
  void Kill() { process_.Kill(); }                // with all that it started
  pid_t pid() const { return process_.pid(); }
  int wait_status() const { return process_.wait_status(); }
  const std::string& output() const { return output_; }  // the last of it
  uint64_t output_bytes() const { return output_bytes_; }
  // What ended it, in words: "exit code 3", "SIGABRT".
  std::string EndText() const;

 private:
  Program() = default;
  void Drain();

  Spawned process_;
  int pipe_ = -1;
  bool ended_ = false;
  std::string output_;
  uint64_t output_bytes_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_
