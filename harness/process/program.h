// SPDX-License-Identifier: Apache-2.0
// Program: a workload's process, as its supervisor runs it. Starts the process, keeps the end of
// its output, and kills it with all that it started. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_
#define WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"
#include "harness/process/spawn.h"

namespace walkhammer {

// CPU time that the process has used, in milliseconds; 0 if the process is gone.
uint64_t CpuMsOf(pid_t pid);
// State of a thread in the letters of proc(5), such as 'R': it runs; 0: there is no such thread.
char StateOf(pid_t pid, pid_t tid);
// True if the process runs; false also if it has ended but is not reaped yet.
bool IsAlive(pid_t pid);

struct ProgramSetup {
  std::vector<std::string> arguments;         // the program first
  std::vector<std::string> environment = {};  // NAME=VALUE, added to ours or replacing ours
  std::string directory = {};                 // working directory; empty: ours
  std::vector<int> inherited = {};        // descriptors that the program keeps, with their numbers
  bool errors_apart = false;              // stderr goes to errors(), not to output()
  std::vector<std::string> counted = {};  // texts to count in the output; an empty text counts 0
};

class Program {
 public:
  static Result<std::unique_ptr<Program>> Start(const ProgramSetup& setup);
  ~Program();  // kills the process and all that it started
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Reads the new output. True once the process has ended; wait_status is valid then.
  bool HasEnded();
  // Waits for its end. False if it still runs after `limit`, or if this process was interrupted.
  bool EndsWithin(std::chrono::milliseconds limit);
  void Terminate() { process_.Signal(SIGTERM); }  // asks the process to end
  void Kill() { process_.Kill(); }                // also all that the process started
  pid_t pid() const { return process_.pid(); }
  int wait_status() const { return process_.wait_status(); }
  const std::string& output() const { return output_; }  // the end of the output
  const std::string& errors() const { return errors_; }  // the end of stderr; needs errors_apart
  uint64_t output_bytes() const { return output_bytes_; }
  // How often the i-th counted text was printed.
  uint64_t counted(size_t i) const { return counted_[i].times; }
  // What ended the process, in words: "exit code 3", "SIGABRT".
  std::string EndText() const;

 private:
  struct Counted {
    void Take(std::string_view printed);
    std::string text;
    std::string rest;  // the end of the output, which may be the beginning of the text
    uint64_t times = 0;
  };

  Program() = default;
  void Drain();
  void Take(std::string_view printed);

  Spawned process_;
  int pipe_ = -1, error_pipe_ = -1;
  bool ended_ = false;
  std::string output_, errors_;
  uint64_t output_bytes_ = 0;
  std::vector<Counted> counted_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_PROGRAM_H_
