// SPDX-License-Identifier: Apache-2.0
// SharedMapping: makes the memory that a SharedState lives in. Called by whoever supervises: the
// command, a fuzz target that nobody supervises, AFL++'s mutator library. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SHARED_SHARED_MAPPING_H_
#define WALKHAMMER_HARNESS_SHARED_SHARED_MAPPING_H_

#include <memory>

#include "harness/base/result.h"
#include "harness/shared/shared_state.h"

namespace walkhammer {

// Memory that processes share, zeroed by the kernel and mapped here; who inherits `fd` maps it,
// too.
struct SharedMemory {
  int fd;
  void* memory;
};
Result<SharedMemory> MakeSharedMemory(const char* name, size_t size);

// The mapping that parent and child share; the parent's end of it.
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

#endif  // WALKHAMMER_HARNESS_SHARED_SHARED_MAPPING_H_
