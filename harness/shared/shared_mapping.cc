// SPDX-License-Identifier: Apache-2.0
#include "harness/shared/shared_mapping.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "harness/base/clock.h"

namespace walkhammer {

Result<std::unique_ptr<SharedMapping>> SharedMapping::Create() {
  std::unique_ptr<SharedMapping> mapping(new SharedMapping);
  mapping->fd_ = memfd_create("walkhammer", MFD_CLOEXEC);
  if (mapping->fd_ < 0 || ftruncate(mapping->fd_, sizeof(SharedState)) != 0)
    return ToolFailed(std::string("cannot make shared memory: ") + strerror(errno));
  void* memory =
      mmap(nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, mapping->fd_, 0);
  if (memory == MAP_FAILED)
    return ToolFailed(std::string("cannot map shared memory: ") + strerror(errno));
  mapping->state_ = static_cast<SharedState*>(memory);  // zeroed by the kernel
  mapping->state_->magic = SharedState::kMagic;
  mapping->state_->symbols.Init();
  mapping->state_->start_ns = MonotonicNs();
  return mapping;
}

SharedMapping::~SharedMapping() {
  if (state_ != nullptr) munmap(state_, sizeof(SharedState));
  if (fd_ >= 0) close(fd_);
}

}  // namespace walkhammer
