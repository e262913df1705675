// SPDX-License-Identifier: Apache-2.0
// SharedMapping: makes and owns the memory of a SharedState. Used by the command, by a fuzz target
// that no command supervises, and by AFL++'s mutator library. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_
#define WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_

#include <memory>

#include "harness/base/result.h"
#include "harness/ipc/shared_state.h"

namespace walkhammer {

// Memory that processes share: zeroed by the kernel, mapped here at `memory`. A process that
// inherits `fd` can map the memory, too. The caller of MakeSharedMemory owns both.
struct SharedMemory {
  int fd;
  void* memory;
};
Result<SharedMemory> MakeSharedMemory(const char* name, size_t size);

// The parent's side of the mapping that parent and child share. Owns memory and `fd`.
class SharedMapping {
 public:
  static Result<std::unique_ptr<SharedMapping>> Create();
  ~SharedMapping();
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;

  SharedState& state() { return *state_; }
  int fd() const { return fd_; }

 private:
  SharedMapping() = default;
  int fd_ = -1;
  SharedState* state_ = nullptr;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_SHARED_MAPPING_H_
