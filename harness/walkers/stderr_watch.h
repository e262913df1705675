// SPDX-License-Identifier: Apache-2.0
// StderrWatch: whether this process has written a line to stderr lately, where that is a file: how
// a walker tells that it has hidden a crash of its own. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_
#define WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_

#include <sys/types.h>

namespace walkhammer {

class StderrWatch {
 public:
  // From here on. Where stderr is no file that can be read, nothing is ever seen.
  void Begin();
  // Whether `text` came since the last call, within the last kilobyte. Keeps errno.
  bool Saw(const char* text);

 private:
  bool Look(const char* text);

  off_t read_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_
