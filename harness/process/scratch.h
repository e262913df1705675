// SPDX-License-Identifier: Apache-2.0
// ScratchFolder: a temporary folder, named walkhammer-XXXXXX in the folder for temporary files,
// that is removed with the object. A folder whose process was killed is removed by the next object
// that is made, of any process of the same user: each folder holds a file that its process keeps
// locked. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
#define WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_

#include <string>

namespace walkhammer {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Empty if it could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int lock_ = -1;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
