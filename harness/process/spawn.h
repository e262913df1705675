// SPDX-License-Identifier: Apache-2.0
// Spawned: a process that this one has started, and ends. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SPAWN_H_
#define WALKHAMMER_HARNESS_PROCESS_SPAWN_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct SpawnOptions {
  std::vector<std::string> arguments;         // the program first, sought in PATH
  std::vector<std::string> environment = {};  // NAME=VALUE, added to ours and stronger
  std::string directory = {};                 // to run in; empty: ours
  std::vector<int> inherited = {};            // descriptors that it keeps under the same number
  int output = 2;                             // where its stdout and stderr go
  bool aslr = true;                           // false: its addresses repeat from run to run
  // It leads a process group and ignores SIGINT and SIGHUP: a terminal's Ctrl-C reaches us, and we
  // end it in order. False: it gets what we get.
  bool own_group = true;
  // Who ends a service or a container tells all of its processes; it leaves that to us.
  bool ignores_sigterm = false;
};

// It reads /dev/null, writes no core, and dies with the thread that started it.
class Spawned {
 public:
  Spawned() = default;
  ~Spawned();  // unless HasEnded or Wait has told its end: kills it with its group, and reaps it
  Spawned(const Spawned&) = delete;
  Spawned& operator=(const Spawned&) = delete;

  // Once. A program that cannot be executed ends with exit code 127, in a directory that is not
  // there with 126.
  Status Start(const SpawnOptions& options);
  // True once it has ended; wait_status is valid then.
  bool HasEnded();
  void Wait();              // until it has
  void Signal(int signal);  // no-op once it has ended
  void Kill();              // with the group that it leads
  pid_t pid() const { return pid_; }
  int wait_status() const { return wait_status_; }
  bool ExitedCleanly() const;

 private:
  pid_t pid_ = -1;
  bool ended_ = false;
  int wait_status_ = 0;
};

// True where this kernel lets a process switch its own address space randomisation off.
bool CanSwitchAslrOff();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SPAWN_H_
