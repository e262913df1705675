// SPDX-License-Identifier: Apache-2.0
// Copying of crash folders that may be untrusted.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "harness/findings/crash_folder.h"
#include "harness/store/run_merger.h"

namespace walkhammer {
namespace {

constexpr off_t kMostFileBytes = 16 << 20;
constexpr const char* kCrashFiles[] = {kInputName, kMinimizedName, kExplainName, kHsErrName};

class OpenFd {
 public:
  explicit OpenFd(int fd) : fd_(fd) {}
  ~OpenFd() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFd(const OpenFd&) = delete;
  OpenFd& operator=(const OpenFd&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

int OpenFolderAt(int at, const char* name) {
  return openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

enum class Taken { kYes, kNoSuchFile, kRefused };

Taken ReadFileAt(int folder, const char* name, std::string& text) {
  const OpenFd file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0) return errno == ENOENT ? Taken::kNoSuchFile : Taken::kRefused;
  struct stat info;
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size > kMostFileBytes)
    return Taken::kRefused;
  text.resize(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = read(file.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<size_t>(got);
  }
  text.resize(done);
  return Taken::kYes;
}

}  // namespace

Result<uint64_t> CopyCrashFolder(const std::string& from, const std::string& folder,
                                 const std::string& to, const std::string& new_folder) {
  const std::string name = NameInCrashes(folder);
  if (name.empty()) return uint64_t{1};
  const OpenFd run(open(from.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const OpenFd crashes(OpenFolderAt(run.get(), "crashes"));
  const OpenFd bucket(OpenFolderAt(crashes.get(), name.c_str()));
  if (bucket.get() < 0) return uint64_t{errno == ENOENT || errno == EBADF ? 0U : 1U};
  const std::filesystem::path target = std::filesystem::path(to) / new_folder;
  std::error_code error;
  std::filesystem::create_directories(target, error);
  if (error) return ToolFailed(target.string() + ": cannot be made (" + error.message() + ")");
  uint64_t refused = 0;
  for (const char* file : kCrashFiles) {
    std::filesystem::remove(target / file, error);  // of the folder that this one replaces
    std::string text;
    const Taken taken = ReadFileAt(bucket.get(), file, text);
    refused += taken == Taken::kRefused ? 1 : 0;
    if (taken != Taken::kYes) continue;
    RETURN_IF_ERROR(WriteFileAtomically((target / file).string(), text));
  }
  return refused;
}

}  // namespace walkhammer
