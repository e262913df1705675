// SPDX-License-Identifier: Apache-2.0
// As a preloaded library it takes its orders from the environment:
//   WALKHAMMER_FAULT=disk-full|no-process|interrupted:AT,EVERY   see ArmFault
//   WALKHAMMER_FAULT_IN=NAME    only in processes of this name; default: walkhammer
//   WALKHAMMER_FAULT_HIT=FILE   made if a call has failed
#include "harness/process/testing/faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>

namespace walkhammer {
namespace {

std::atomic<FaultKind> armed{FaultKind::kNone};
std::atomic<int> number{0}, fails_at{0}, fails_every{0};
pid_t process = 0;  // children count for themselves, and fail nothing
const char* hit_file = nullptr;

// True if this call of `kind` is to fail.
bool Fails(FaultKind kind) {
  if (armed.load() != kind || getpid() != process) return false;
  const int now = ++number;
  const int after = now - fails_at, every = fails_every;
  if (after != 0 && (every == 0 || after < 0 || after % every != 0)) return false;
  if (hit_file != nullptr)
    close(static_cast<int>(syscall(SYS_openat, AT_FDCWD, hit_file, O_WRONLY | O_CREAT, 0666)));
  return true;
}

// Pipes, terminals and memory files are never full.
bool IsOnDisk(int fd) {
  struct stat what;
  return fstat(fd, &what) == 0 && S_ISREG(what.st_mode) && what.st_nlink > 0;
}

bool FailsWith(FaultKind kind, int error) {
  if (!Fails(kind)) return false;
  errno = error;
  return true;
}

bool FailsAsDisk(int fd) {
  return armed.load() == FaultKind::kDiskFull && IsOnDisk(fd) &&
         FailsWith(FaultKind::kDiskFull, ENOSPC);
}

bool FailsAsInterrupted() { return FailsWith(FaultKind::kInterrupted, EINTR); }

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

__attribute__((constructor)) void TakeOrders() {
  const char* order = getenv("WALKHAMMER_FAULT");
  if (order == nullptr) return;
  const char* wanted = getenv("WALKHAMMER_FAULT_IN");
  if (strcmp(program_invocation_short_name, wanted == nullptr ? "walkhammer" : wanted) != 0) return;
  hit_file = getenv("WALKHAMMER_FAULT_HIT");
  const char* colon = strchr(order, ':');
  if (colon == nullptr) return;
  const FaultKind kind = strncmp(order, "disk-full", 9) == 0     ? FaultKind::kDiskFull
                         : strncmp(order, "no-process", 10) == 0 ? FaultKind::kNoProcess
                                                                 : FaultKind::kInterrupted;
  const char* comma = strchr(colon, ',');
  ArmFault(kind, atoi(colon + 1), comma == nullptr ? 0 : atoi(comma + 1));
}

}  // namespace

void ArmFault(FaultKind kind, int at, int every) {
  process = getpid();
  number = 0;
  fails_at = at;
  fails_every = every;
  armed = kind;
}

int DisarmFault() {
  armed = FaultKind::kNone;
  return number;
}

}  // namespace walkhammer

using walkhammer::FailsAsDisk;
using walkhammer::FailsAsInterrupted;
using walkhammer::FaultKind;

extern "C" {

ssize_t write(int fd, const void* data, size_t size) {
  if (FailsAsDisk(fd) || FailsAsInterrupted()) return -1;
  static auto* const next = walkhammer::Next<decltype(write)>("write");
  return next(fd, data, size);
}

ssize_t writev(int fd, const iovec* data, int count) {
  if (FailsAsDisk(fd) || FailsAsInterrupted()) return -1;
  static auto* const next = walkhammer::Next<decltype(writev)>("writev");
  return next(fd, data, count);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  if (FailsAsDisk(fd) || FailsAsInterrupted()) return -1;
  static auto* const next = walkhammer::Next<decltype(pwrite64)>("pwrite64");
  return next(fd, data, size, at);
}

ssize_t read(int fd, void* data, size_t size) {
  if (FailsAsInterrupted()) return -1;
  static auto* const next = walkhammer::Next<decltype(read)>("read");
  return next(fd, data, size);
}

int fsync(int fd) {
  if (FailsAsDisk(fd)) return -1;
  static auto* const next = walkhammer::Next<decltype(fsync)>("fsync");
  return next(fd);
}

int fdatasync(int fd) {
  if (FailsAsDisk(fd)) return -1;
  static auto* const next = walkhammer::Next<decltype(fdatasync)>("fdatasync");
  return next(fd);
}

int ftruncate64(int fd, off64_t size) noexcept {
  if (FailsAsDisk(fd)) return -1;
  static auto* const next = walkhammer::Next<int(int, off64_t)>("ftruncate64");
  return next(fd, size);
}

static int Open(const char* name, const char* path, int flags, mode_t mode) {
  if ((flags & O_CREAT) != 0 && walkhammer::FailsWith(FaultKind::kDiskFull, ENOSPC)) return -1;
  if (FailsAsInterrupted()) return -1;
  return walkhammer::Next<int(const char*, int, mode_t)>(name)(path, flags, mode);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Open("open", path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const auto mode = (flags & O_CREAT) != 0 ? va_arg(more, mode_t) : 0;
  va_end(more);
  return Open("open64", path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (walkhammer::FailsWith(FaultKind::kDiskFull, ENOSPC)) return -1;
  return walkhammer::Next<int(const char*, mode_t)>("mkdir")(path, mode);
}

int rename(const char* from, const char* to) noexcept {
  if (walkhammer::FailsWith(FaultKind::kDiskFull, ENOSPC)) return -1;
  return walkhammer::Next<int(const char*, const char*)>("rename")(from, to);
}

pid_t fork() noexcept {
  if (walkhammer::FailsWith(FaultKind::kNoProcess, EAGAIN)) return -1;
  return walkhammer::Next<pid_t()>("fork")();
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*),
                   void* argument) noexcept {
  if (walkhammer::Fails(FaultKind::kNoProcess)) return EAGAIN;
  return walkhammer::Next<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)>(
      "pthread_create")(thread, attributes, body, argument);
}

pid_t waitpid(pid_t pid, int* status, int options) {
  if (FailsAsInterrupted()) return -1;
  return walkhammer::Next<decltype(waitpid)>("waitpid")(pid, status, options);
}

int waitid(idtype_t type, id_t id, siginfo_t* end, int options) {
  if (FailsAsInterrupted()) return -1;
  return walkhammer::Next<decltype(waitid)>("waitid")(type, id, end, options);
}

}  // extern "C"
