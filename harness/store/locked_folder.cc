// SPDX-License-Identifier: Apache-2.0
#include "harness/store/locked_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

Failure NotWritable(const std::string& dir, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return BadInput(
        fmt::format("--out {}: the disk is full; free space or choose another folder", dir));
  return BadInput(fmt::format("--out {}: cannot be written ({}); choose another folder", dir,
                              std::strerror(error)));
}

}  // namespace

LockedFolder::~LockedFolder() {
  const bool locked = lock_fd_ >= 0;
  if (locked) close(lock_fd_);
  if (kept_) return;
  std::error_code ignored;
  if (locked)
    for (const char* name : {"run.db", "run.db-wal", "run.db-shm", "run.db-journal", "run.lock"})
      fs::remove(fs::path(dir_) / name, ignored);
  for (auto made = made_dirs_.rbegin(); made != made_dirs_.rend(); ++made)
    fs::remove(*made, ignored);
}

// Makes `path` unless it is a folder already. Returns 0 or an errno.
int LockedFolder::MakeDir(const fs::path& path) {
  if (mkdir(path.c_str(), 0777) == 0) {
    made_dirs_.push_back(path);
    return 0;
  }
  const int error = errno;
  std::error_code ignored;
  if (error == EEXIST) return fs::is_directory(path, ignored) ? 0 : ENOTDIR;
  return error;
}

int LockedFolder::MakeDirs(const fs::path& path) {
  const int error = MakeDir(path);
  if (error != ENOENT || path.parent_path().empty() || path.parent_path() == path) return error;
  if (const int above = MakeDirs(path.parent_path()); above != 0) return above;
  return MakeDir(path);  // may say ENOENT again, as in /proc
}

Status LockedFolder::Lock() {
  const std::string file = (fs::path(dir_) / kLockName).string();
  lock_fd_ = OpenFile(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (lock_fd_ < 0) {
    if (errno != EEXIST) return NotWritable(dir_, errno);
    Keep();  // the folder is the other run's now
    return BadInput(
        fmt::format("--out {}: another run has just begun there; choose another folder", dir_));
  }
  if (flock(lock_fd_, LOCK_EX | LOCK_NB) != 0)
    return BadInput(fmt::format("--out {}: cannot be locked ({}); choose a folder on a local disk",
                                dir_, std::strerror(errno)));
  const int error = posix_fallocate(lock_fd_, 0, kReserve);
  if (error == ENOSPC || error == EDQUOT) return NotWritable(dir_, error);
  return Ok();
}

void LockedFolder::FreeReserve() {
  // Where this fails, the end is written all the same if it fits.
  [[maybe_unused]] const int failed = ftruncate(lock_fd_, 0);
}

Result<std::unique_ptr<LockedFolder>> LockedFolder::Make(const std::string& given) {
  fs::path path = fs::path(given).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();  // "runs/1/"
  if (path.empty()) return BadInput("--out: give the name of a new folder");
  auto folder = std::unique_ptr<LockedFolder>(new LockedFolder(path.string()));
  const std::string& dir = folder->dir();
  if (const int error = folder->MakeDirs(path); error != 0) return NotWritable(dir, error);
  std::error_code error;
  const fs::directory_iterator entries(path, error);
  if (error) return NotWritable(dir, error.value());
  if (entries != fs::directory_iterator()) {
    if (IsWritten(dir))
      return BadInput(
          fmt::format("--out {}: another run is writing there; choose another folder", dir));
    return BadInput(
        fmt::format("--out {}: exists and is not empty; choose another folder or remove it", dir));
  }
  RETURN_IF_ERROR(folder->Lock());
  return folder;
}

bool IsWritten(const std::string& dir) {
  const int fd = OpenFile(dir + "/" + kLockName, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  const bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return locked;
}

}  // namespace walkhammer
