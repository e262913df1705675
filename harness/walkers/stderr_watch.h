// SPDX-License-Identifier: Apache-2.0
// StderrWatch: finds out if this process has written a text to stderr lately, provided that stderr
// is a file. In this way a walker shows that it has hidden a crash of its own. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_
#define WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_

#include <sys/types.h>

namespace walkhammer {

class StderrWatch {
 public:
  // Watches from here on. If stderr is not a readable file, Saw always returns false.
  void Begin();
  // True if `text` was written since the last call, within the last kilobyte. Keeps errno.
  bool Saw(const char* text);

 private:
  bool Look(const char* text);

  off_t read_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_STDERR_WATCH_H_
