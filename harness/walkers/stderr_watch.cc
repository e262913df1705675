// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/stderr_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace walkhammer {
namespace {

// Bytes; 0: stderr is not a file.
off_t StderrSize() {
  struct stat info {};
  return fstat(STDERR_FILENO, &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
}

}  // namespace

void StderrWatch::Begin() { read_ = StderrSize(); }

bool StderrWatch::Saw(const char* text) {
  const int error = errno;
  const bool saw = Look(text);
  errno = error;  // an oracle judges the walker's errno
  return saw;
}

bool StderrWatch::Look(const char* text) {
  const off_t size = StderrSize();
  if (size == read_) return false;
  if (size < read_) read_ = 0;  // the parent has emptied the file
  char tail[1024];
  const off_t from = std::max<off_t>(read_, size - static_cast<off_t>(sizeof tail));
  read_ = size;
  // The descriptor itself may be for writing only.
  const int file = open("/proc/self/fd/2", O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const ssize_t got = pread(file, tail, sizeof tail, from);
  close(file);
  return got > 0 && memmem(tail, static_cast<size_t>(got), text, std::strlen(text)) != nullptr;
}

}  // namespace walkhammer
