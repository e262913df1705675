// SPDX-License-Identifier: Apache-2.0
// Observation: everything that oracles judge a walk by.
// Signal-safe: yes (plain references, valid while the walk is judged).
#ifndef WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
#define WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "harness/base/trace.h"
#include "harness/guard/guard.h"
#include "harness/jvm/live/methods.h"
#include "harness/oracles/oracle.h"
#include "harness/request/walk_request.h"
#include "harness/request/walker_table.h"

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

// What torture programs write as they call and return: the methods of theirs that are active, and
// nothing else. Little-endian 32-bit words in memory of the program; see wh.torture.Shadow.
struct ShadowStack {
  static constexpr uint32_t kMagic = 0x57485353;
  static constexpr uint32_t kMostFrames = 1022;
  std::atomic<uint32_t> magic;
  std::atomic<uint32_t> depth;
  uint32_t ids[kMostFrames];  // outermost first; MethodEntry::shadow_id - 1
};

// What is known of a sample beyond what the walker was shown.
struct SampleFacts {
  bool nested;                // it interrupted another walk
  const ShadowStack* shadow;  // of the sampled thread, or null
  // The byte code at `bci` of a jmethodID, or -1 where it is not known. May be null.
  int (*byte_code)(void* method, int bci);
  // Bytes of byte code that a jmethodID's method has now, or -1. May be null.
  int (*code_size)(void* method);
  // The Method* of a jmethodID, of its newest version; 0 where it is gone. May be null.
  uint64_t (*method_of)(void* method);
  // True if the JVM has that jmethodID, though no event told of it. May be null.
  bool (*keeps)(void* method);
  // Where the JVM's calls of Java come back to: StubRoutines::_call_stub_return_address.
  uint64_t call_stub_return;
};

// What the walker before answered when it was shown the same.
struct OtherAnswer {
  Trace trace;
  const WalkerInfo* walker;  // null: there was none
  bool same_again;           // it was this very walker, and nothing can have changed in between
};

struct Observation {
  const WalkRequest* request;
  const WalkerInfo* walker;
  const MethodRegistry* methods;
  std::span<const Frame> truth;  // from JVMTI: of the scene, or of the sample if it was asked
  bool pristine;                 // the walker was shown what `truth` tells of, as it is
  Trace trace;
  bool buffer_intact;
  const Fault* fault;             // with Ending::kCrashed and kHung
  const UnsafeCall* unsafe_call;  // function null: none
  Surroundings before, after;
  StackWrite stack_write;
  const SampleFacts* sample = nullptr;  // null for synthetic walks
  OtherAnswer other{};
};

// What WalkRequest::against is to say of a finding of `oracle`: with whom it compared, or nobody.
uint8_t AgainstOf(const Observation& seen, const Oracle& oracle);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
