// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/shared_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/base/clock.h"
#include "harness/base/files.h"

namespace walkhammer {

namespace {

// A hardened kernel (vm.memfd_noexec = 2) needs the seal, one before 6.3 does not know it.
int MakeMemfd(const char* name) {
  constexpr unsigned kNoExecSeal = 8;  // MFD_NOEXEC_SEAL, which older headers lack
  const int fd = memfd_create(name, MFD_CLOEXEC | kNoExecSeal);
  return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC);
}

}  // namespace

Result<SharedMemory> MakeSharedMemory(const char* name, size_t size) {
  const int fd = MakeMemfd(name);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, static_cast<off_t>(size)) == 0)
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory != MAP_FAILED) return SharedMemory{fd, memory};
  const int error = errno;
  if (fd >= 0) close(fd);
  return ToolFailed(std::string("cannot make shared memory: ") + strerror(error));
}

Result<std::unique_ptr<SharedMapping>> SharedMapping::Create() {
  ASSIGN_OR_RETURN(const SharedMemory made, MakeSharedMemory("walkhammer", sizeof(SharedState)));
  std::unique_ptr<SharedMapping> mapping(new SharedMapping);
  mapping->fd_ = made.fd;
  mapping->state_ = static_cast<SharedState*>(made.memory);
  mapping->state_->magic = SharedState::kMagic;
  mapping->state_->symbols.Init();
  mapping->state_->start_ns = MonotonicNs();
  return mapping;
}

SharedMapping::~SharedMapping() {
  if (state_ != nullptr) munmap(state_, sizeof(SharedState));
  if (fd_ >= 0) close(fd_);
}

Result<void*> MapState(const std::string& path, size_t size, uint64_t magic) {
  const int fd = OpenFile(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return ToolFailed("cannot open " + path);
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fstat(fd, &info) == 0 && info.st_size == static_cast<off_t>(size))
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory == MAP_FAILED || static_cast<LineState*>(memory)->magic != magic)
    return ToolFailed(path + " is not the state of a walkhammer of this build: rebuild all of it");
  return memory;
}

Result<SharedState*> OpenState() {
  const char* path = std::getenv(kStateVariable);
  if (path == nullptr) return nullptr;
  return OpenStateAt<SharedState>(path);
}

}  // namespace walkhammer
