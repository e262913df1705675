// SPDX-License-Identifier: Apache-2.0
// Observation: everything that oracles judge a walk by.
// Signal-safe: yes (plain references, valid while the walk is judged).
#ifndef WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
#define WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "harness/base/trace.h"
#include "harness/guard/guard.h"
#include "harness/jvm/live/methods.h"
#include "harness/oracles/oracle.h"
#include "harness/request/walk_request.h"
#include "harness/request/walker_table.h"

namespace walkhammer {

// State that no walker may change, recorded before and after the call.
struct Surroundings {
  int32_t error_number;
  int32_t thread_state;
  uint64_t anchor_sp, anchor_pc, anchor_fp;
  uint64_t signal_mask;  // the kernel's, signals 1 to 64
  bool operator==(const Surroundings&) const = default;
};

// The first word of the walked stack that the walker itself changed.
struct StackWrite {
  bool found;
  uint32_t offset;  // bytes above stack+0
  uint64_t before, after;
};

// The active methods of a torture program's own code, which the program records as it calls and
// returns. Little-endian 32-bit words in the program's memory; see wh.torture.Shadow.
struct ShadowStack {
  static constexpr uint32_t kMagic = 0x57485353;
  static constexpr uint32_t kMostFrames = 1022;
  std::atomic<uint32_t> magic;
  std::atomic<uint32_t> depth;
  uint32_t ids[kMostFrames];  // outermost first; MethodEntry::shadow_id - 1
};

// Facts about a sample that the walker was not shown. The functions accept whatever a walker may
// have returned for a jmethodID: any value, also of a class that is being unloaded.
struct SampleFacts {
  bool nested;                // it interrupted another walk
  const ShadowStack* shadow;  // of the sampled thread, or null
  // Returns the bytecode at `bci` of a jmethodID's method; -1: unknown. May be null.
  int (*byte_code)(void* method, int bci);
  // Returns how many bytes of bytecode a jmethodID's method has now; -1: unknown. May be null.
  int (*code_size)(void* method);
  // Returns the Method* of a jmethodID's newest version; 0: the method is gone. May be null.
  uint64_t (*method_of)(void* method);
  // Returns true if the JVM has that jmethodID, even if no event reported it. May be null.
  bool (*keeps)(void* method);
  // Return address of the JVM's calls of Java: StubRoutines::_call_stub_return_address.
  uint64_t call_stub_return;
};

// The answer of the previous walker, which was shown the same.
struct OtherAnswer {
  Trace trace;
  const WalkerInfo* walker;  // null: there was no previous walker
  bool same_again;           // both are the same walker, and nothing can have changed in between
};

struct Observation {
  const WalkRequest* request;
  const WalkerInfo* walker;
  const MethodRegistry* methods;
  std::span<const Frame> truth;  // from JVMTI: of the scene, or of the sample if JVMTI was asked
  bool pristine;                 // the walker was shown the stack of `truth`, unchanged
  // So many of the newest frames are those of `truth`, by method, bytecode and kind. Oracles need
  // not look at these frames again. 0 is never wrong.
  size_t true_frames = 0;
  Trace trace;
  bool buffer_intact;
  const Fault* fault;             // with Ending::kCrashed and kHung
  const UnsafeCall* unsafe_call;  // function null: none
  Surroundings before, after;
  StackWrite stack_write;
  const SampleFacts* sample = nullptr;  // null for synthetic walks
  OtherAnswer other{};
  uint64_t failed_load = 0;  // the instruction whose load was made to fail; 0: none did
  std::span<const Frame> undisturbed = {};  // with failed_load: the walk's frames without that

  // True if that load is what ended the walk: neither the walker nor SafeFetch protects it.
  bool CrashedAtFailedLoad() const {
    return failed_load != 0 && trace.ending == Ending::kCrashed && fault->doubtful == 0 &&
           fault->registers.pc == failed_load;
  }
};

// True if `count` frames of `have` are those of `want` by method and bytecode index, and by kind or
// no frame has one. Does not branch at each frame, which would take twice as long.
inline bool AreSame(const Frame* want, const Frame* have, size_t count) {
  using Words = uint32_t __attribute__((vector_size(sizeof(Frame))));  // bci, kind, method
  static_assert(offsetof(Frame, kind) == 4 && offsetof(Frame, method) == 8 && sizeof(Frame) == 16);
  Words differing{}, any{};
  for (size_t i = 0; i < count; i++) {
    Words wanted, found;
    std::memcpy(&wanted, want + i, sizeof wanted);
    std::memcpy(&found, have + i, sizeof found);
    differing |= wanted ^ found;
    any |= found;
  }
  return (differing[0] | differing[2] | differing[3]) == 0 && (differing[1] == 0 || any[1] == 0);
}

// Observation::true_frames of an answer of at most `depth` frames.
inline size_t TrueFrames(const Trace& trace, std::span<const Frame> truth, int depth) {
  if (trace.ending != Ending::kReturned || trace.num_frames > depth || trace.num_frames <= 0)
    return 0;
  const size_t most = std::min(truth.size(), static_cast<size_t>(trace.num_frames));
  if (AreSame(truth.data(), trace.frames, most)) return most;
  size_t i = 0;
  for (; i < most; i++) {
    const Frame &want = truth[i], &have = trace.frames[i];
    if (want.method != have.method || want.bci != have.bci) break;
    if (have.kind != 0 && want.kind != 0 && want.kind != have.kind) break;
  }
  return i;
}

// The Facts of a walk.
inline uint16_t FactsOf(const Observation& seen) {
  const Trace& trace = seen.trace;
  const auto bit = [](bool is_true, Facts fact) { return is_true ? unsigned{fact} : 0U; };
  return static_cast<uint16_t>(
      bit(trace.ending != Ending::kReturned, kFailed) | bit(trace.num_frames <= 0, kNoFrames) |
      bit(trace.num_frames > static_cast<int64_t>(seen.true_frames), kOtherFrames) |
      bit(trace.num_frames > seen.request->depth, kTooManyFrames) | bit(seen.pristine, kPristine) |
      bit(seen.sample != nullptr, kSampled) | bit(seen.other.walker != nullptr, kCompared) |
      bit(trace.protected_faults != 0, kProtected) |
      bit(seen.unsafe_call->function != nullptr, kUnsafe) |
      bit(!seen.buffer_intact || seen.stack_write.found, kOverwrote) |
      bit(seen.before != seen.after, kChanged) | bit(seen.failed_load != 0, kLoadFailed) |
      bit(trace.described_count != 0 || trace.complaint != nullptr, kSaysMore));
}

// WalkRequest::against for a finding of `oracle`: table index, plus 1, of the walker that the
// oracle compared with; 0: the oracle compared with none.
uint8_t AgainstOf(const Observation& seen, const Oracle& oracle);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_OBSERVATION_H_
