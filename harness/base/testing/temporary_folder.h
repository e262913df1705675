// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which goes with the object. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TESTING_TEMPORARY_FOLDER_H_
#define WALKHAMMER_HARNESS_BASE_TESTING_TEMPORARY_FOLDER_H_

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace walkhammer {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = std::filesystem::temp_directory_path() / "wh-test-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) {
      std::perror(name.c_str());
      std::abort();
    }
    path_ = std::filesystem::canonical(name);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string Under(const std::string& name) const { return path_ + "/" + name; }
  // Writes a file, and makes the folders that it is to be in. Returns its path.
  std::string Write(const std::string& name, std::string_view content) const {
    const std::filesystem::path path = Under(name);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

 private:
  std::string path_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TESTING_TEMPORARY_FOLDER_H_
