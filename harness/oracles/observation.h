// Observation: everything that oracles judge a walk by.
// Signal-safe: yes (plain references, valid while the walk is judged).
#ifndef WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
#define WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_

#include <cstdint>
#include <span>

#include "harness/guard/guard.h"
#include "harness/jvm/methods.h"
#include "harness/request/walk_request.h"
#include "harness/walkers/trace.h"
#include "harness/walkers/walker_table.h"

namespace walkhammer {

// What no walker may change, before and after the call.
struct Surroundings {
  int32_t error_number;
  int32_t thread_state;
  uint64_t anchor_sp, anchor_pc, anchor_fp;
  uint64_t signal_mask;  // the kernel's, signals 1 to 64
};

// The first word of the walked stack that the walker itself changed.
struct StackWrite {
  bool found;
  uint32_t offset;  // bytes above stack+0
  uint64_t before, after;
};

struct Observation {
  const WalkRequest* request;
  const WalkerInfo* walker;
  const MethodRegistry* methods;
  std::span<const Frame> truth;  // of the scene, from JVMTI
  bool pristine;                 // the walker was shown the scene as it is
  Trace trace;
  bool buffer_intact;
  const Fault* fault;             // with Ending::kCrashed and kHung
  const UnsafeCall* unsafe_call;  // function null: none
  Surroundings before, after;
  StackWrite stack_write;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
