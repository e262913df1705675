// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/answers.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

constexpr size_t kBytes = kMostAnswers * sizeof(uint64_t);

}  // namespace

void Answers::Unmap::operator()(std::atomic<uint64_t>* words) const { munmap(words, kBytes); }

Result<Answers> Answers::Create(const std::string& path) {
  const int fd = OpenFile(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) return ToolFailed("cannot make " + path + ": " + strerror(errno));
  // All of it, so that no store into the mapping can meet a full disk.
  const int error = posix_fallocate(fd, 0, kBytes);
  close(fd);
  if (error == 0) return Map(path);
  unlink(path.c_str());
  return ToolFailed("cannot make " + path + ": " + strerror(error));
}

Result<Answers> Answers::Map(const std::string& path) {
  const int fd = OpenFile(path, O_RDWR | O_CLOEXEC);
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size == static_cast<off_t>(kBytes))
    memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd >= 0) close(fd);
  if (memory == MAP_FAILED) return ToolFailed("cannot map " + path);
  Answers answers;
  answers.words_.reset(static_cast<std::atomic<uint64_t>*>(memory));
  return answers;
}

Result<Answers> Answers::OpenFromEnvironment() {
  const char* path = std::getenv(kAnswersVariable);
  return path == nullptr ? Result<Answers>(Answers()) : Map(path);
}

Status Answers::Trim(const std::string& path) {
  uint64_t used = kMostAnswers;
  const std::atomic<uint64_t>* words = words_.get();
  while (used > 0 && words[used - 1].load(std::memory_order_relaxed) == 0) used--;
  words_.reset();
  if (truncate(path.c_str(), static_cast<off_t>(used * sizeof(uint64_t))) == 0) return Ok();
  return ToolFailed("cannot cut " + path + ": " + strerror(errno));
}

}  // namespace walkhammer
