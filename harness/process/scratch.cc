// SPDX-License-Identifier: Apache-2.0
#include "harness/process/scratch.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr char kPrefix[] = "walkhammer-";
constexpr char kLockName[] = ".lock";

// The lock file appears under its name once it is locked: who finds it unlocked knows that its
// process is gone. -1: it could not be made.
int MakeLock(const std::string& folder) {
  const std::string path = folder + "/" + kLockName, unlocked = path + ".new";
  const int fd = OpenFile(unlocked, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return -1;
  if (flock(fd, LOCK_EX | LOCK_NB) == 0 && rename(unlocked.c_str(), path.c_str()) == 0) return fd;
  close(fd);
  return -1;
}

// True if it is this user's, with a lock file that no process holds.
bool IsStale(const std::string& folder) {
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid())
    return false;
  const std::string lock = folder + "/" + kLockName;
  const int fd = OpenFile(lock, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) return false;
  const bool stale = flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return stale;
}

void RemoveStale(const fs::path& parent) {
  std::error_code error;
  for (fs::directory_iterator at(parent, error), end; !error && at != end; at.increment(error))
    if (at->path().filename().string().starts_with(kPrefix) && IsStale(at->path())) {
      std::error_code ignored;
      fs::remove_all(at->path(), ignored);
    }
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return;
  RemoveStale(parent);
  std::string pattern = parent / (std::string(kPrefix) + "XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr) return;
  path_ = pattern;
  lock_ = MakeLock(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace walkhammer
