// SPDX-License-Identifier: Apache-2.0
// Draft: a request while it is mutated, with the chance to choose and the words to choose from.
// Each mutation gets one. It makes values of every kind that walkers tell apart, and keeps the
// edit list small and inside the scene's stack. Signal-safe: no (but allocates nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_DRAFT_H_
#define WALKHAMMER_HARNESS_GENERATE_DRAFT_H_

#include <cstdint>
#include <span>

#include "harness/base/random.h"
#include "harness/generate/values.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// What a walker takes for one frame: registers, an anchor, or what a frame tells of its sender.
struct Triple {
  Value pc, sp, fp;
};

class Draft {
 public:
  Draft(Random& random, const Vocabulary& words, uint8_t walker, WalkRequest& request)
      : random_(random), words_(words), walker_(walker), request_(request) {}

  Random& random() { return random_; }
  const Vocabulary& words() const { return words_; }
  WalkRequest& request() { return request_; }
  uint8_t walker() const { return walker_; }

  uint32_t Below(uint32_t bound) { return random_.Below(bound); }
  bool Chance(uint32_t percent) { return random_.Chance(percent); }
  // One of a span that is not empty.
  template <typename T>
  const T& OneOf(std::span<const T> all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  }

  // --- the scene ---
  const SceneWords& stack() const;
  // Bytes from stack+0 that edits may change; at least 64, also where the scene is unknown.
  int32_t StackBytes() const;
  std::span<const FrameSample> Frames() const { return stack().Frames(); }
  // One of them, near the top for the most part. Frames() must not be empty.
  const FrameSample& NearFrame();
  // A scene that can be walked, or the present one where none can.
  uint8_t AnyScene();
  // A slot of the kind that walkers read, near the top for the most part.
  int32_t AnySlot();

  // --- edits ---
  std::span<Edit> Edits() { return {request_.edits, request_.edit_count}; }
  // The slot holds `value` from now on. Where there is no room left, some other edit goes.
  void Set(int32_t slot, const Value& value);
  void Remove(int index);

  // Any value of the request that matters: a register, an anchor word in use, an edit's.
  Value& AnyUsedValue();

  // --- values ---
  Value AnyValue();
  Value CodeValue();      // of generated code, for the most part where instructions start
  Value ReturnAddress();  // that a call may have pushed, debug information included
  Value StackValue();
  Value MethodValue();
  Value EdgeValue();      // next to where mappings, guard pages, the heap or the code cache end
  Value ReadableValue();  // memory that is no stack: what is read there leads on
  Value LiteralValue();
  // Small for the most part, either way, a multiple of 8 for the most part; never 0.
  int64_t Distance();
  Value ValueFor(int32_t slot);  // of the kind that the slot holds in the pristine stack
  // A place of `kind`, or null where there is none.
  const Place* AnyPlace(SymbolKind kind);
  Value At(const Place& place, std::span<const uint32_t> offsets);

  // Of a frame of this scene as it stands; where there is none, of the pristine registers.
  static Triple TripleOf(const FrameSample& frame);
  // True, bent, or made up.
  Triple AnyTriple();

 private:
  Random& random_;
  const Vocabulary& words_;
  uint8_t walker_;
  WalkRequest& request_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_DRAFT_H_
