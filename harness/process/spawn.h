// SPDX-License-Identifier: Apache-2.0
// Spawned: a child process, which this process starts and ends. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SPAWN_H_
#define WALKHAMMER_HARNESS_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct SpawnOptions {
  std::vector<std::string> arguments;         // the program first, searched in PATH
  std::vector<std::string> environment = {};  // NAME=VALUE, added to ours or replacing ours
  std::string directory = {};                 // working directory; empty: ours
  std::vector<int> inherited = {};            // descriptors to keep, with their numbers
  int output = 2;                             // descriptor for its stdout and stderr
  int errors = -1;                            // descriptor for its stderr alone; -1: `output`
  bool aslr = true;                           // false: the same addresses in each run
  // True: the process leads a group of its own and ignores SIGINT and SIGHUP, so that a terminal's
  // Ctrl-C reaches us, and we end the process in order. False: it gets the signals of our group.
  bool own_group = true;
  // True: the process ignores SIGTERM, which the end of a service or container sends to all
  // processes; we end this process ourselves.
  bool ignores_sigterm = false;
  bool writes_core = false;  // false: the process may write no core
};

// The process reads /dev/null and dies with the thread that started it.
class Spawned {
 public:
  Spawned() = default;
  ~Spawned();  // kills the process and its group, and reaps it, unless its end is already known
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  // Starts the process; call it once. If the program cannot be executed, the process ends with exit
  // code 127; if the directory is not there, with 126.
  Status Start(const SpawnOptions& options);
  // True once the process has ended; wait_status is valid then, and what the process has left
  // behind in its group is killed.
  bool HasEnded();
  void Wait();              // until the process has ended
  void Signal(int signal);  // sends a signal; no-op once the end is known
  void Kill();              // kills the process, and the group that it leads
  pid_t pid() const { return pid_; }
  int wait_status() const { return wait_status_; }
  bool ExitedCleanly() const;
  // True if the running process has no address space randomisation; empty if the kernel does not
  // say. Right after Start the result may still be false.
  std::optional<bool> IsAslrOff() const;

 private:
  bool TakeEnd(int options);  // of waitid; true once the end is known

  pid_t pid_ = -1;
  bool ended_ = false;
  int wait_status_ = 0;
};

// Kills the groups of all processes that this process has started and not yet reaped.
// Signal-safe: yes.
void KillSpawned();

// True if this kernel lets a process switch off its own address space randomisation.
bool CanSwitchAslrOff();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SPAWN_H_
