// SPDX-License-Identifier: Apache-2.0
#include "harness/process/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "harness/base/files.h"

namespace walkhammer {

LogFile::~LogFile() {
  if (fd_ < 0) return;
  close(fd_);
  unlink(path_.c_str());
}

Status LogFile::Open(const std::string& path) {
  fd_ = OpenFile(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) return ToolFailed("cannot write " + path + ": " + std::strerror(errno));
  path_ = path;
  return Ok();
}

size_t LogFile::Size() const {
  struct stat info {};
  return fd_ >= 0 && fstat(fd_, &info) == 0 ? static_cast<size_t>(info.st_size) : 0;
}

std::string LogFile::Tail() const {
  const size_t size = Size();
  std::string tail(std::min(size, kKept), '\0');
  const ssize_t got = pread(fd_, tail.data(), tail.size(), static_cast<off_t>(size - tail.size()));
  tail.resize(got > 0 ? static_cast<size_t>(got) : 0);
  return tail;
}

void LogFile::Trim() {
  if (Size() <= kMost) return;
  std::string tail = Tail();
  if (ftruncate(fd_, 0) == 0) kept_ = std::move(tail);
}

std::string LogFile::End(size_t most) const {
  const std::string text = kept_ + Tail();
  return text.substr(text.size() - std::min({text.size(), most, kKept}));
}

}  // namespace walkhammer
