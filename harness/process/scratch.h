// SPDX-License-Identifier: Apache-2.0
// ScratchFolder: a temporary folder, which the destructor removes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
#define WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace walkhammer {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code error;
    std::string pattern = std::filesystem::temp_directory_path(error) / "walkhammer-XXXXXX";
    if (!error && mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Empty if the folder could not be made.
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_SCRATCH_H_
