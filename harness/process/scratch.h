// SPDX-License-Identifier: Apache-2.0
// ScratchFolder: a temporary folder, named walkhammer-XXXXXX in TMPDIR (default: /tmp). The
// destructor removes it with its contents. If a process was killed, its folder is left: the next
// ScratchFolder of any process of the same user removes it. A locked file in each folder shows that
// its process is alive. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
#define WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_

#include <cstdlib>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Fails with kToolFailed if the folder could not be made; path() is then empty.
  Status made() const {
    if (!path_.empty()) return Ok();
    const char* place = std::getenv("TMPDIR");
    return ToolFailed(std::string("cannot make a temporary folder in ") +
                      (place == nullptr ? "/tmp" : place) +
                      ": set TMPDIR to a folder that can be written to");
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
