// SPDX-License-Identifier: Apache-2.0
// RequestBuilder: a request while it is mutated, with the Random and the vocabulary to choose from.
// Each mutation gets a RequestBuilder, which makes values of every kind that walkers tell apart,
// and keeps the edit list small and inside the scene's stack. Signal-safe: no (but allocates
// nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_REQUEST_BUILDER_H_
#define WALKHAMMER_HARNESS_GENERATE_REQUEST_BUILDER_H_

#include <cstdint>
#include <span>

#include "harness/base/random.h"
#include "harness/request/vocabulary.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// One frame as a walker gets it: from the registers, the anchor, or the words of its callee.
struct Triple {
  Value pc, sp, fp;
};

class RequestBuilder {
 public:
  RequestBuilder(Random& random, const Vocabulary& words, uint8_t walker, WalkRequest& request)
      : random_(random), words_(words), walker_(walker), request_(request) {}

  Random& random() { return random_; }
  const Vocabulary& words() const { return words_; }
  WalkRequest& request() { return request_; }
  uint8_t walker() const { return walker_; }

  uint32_t Below(uint32_t bound) { return random_.Below(bound); }
  bool Chance(uint32_t percent) { return random_.Chance(percent); }
  // A random element of `all`, which must not be empty.
  template <typename T>
  const T& OneOf(std::span<const T> all) {
    return all[Below(static_cast<uint32_t>(all.size()))];
  }

  // --- the scene ---
  const SceneWords& stack() const;
  // Bytes from stack+0 on that edits may change; at least 64, even if the scene is unknown.
  int32_t StackBytes() const;
  std::span<const FrameSample> Frames() const { return stack().Frames(); }
  // A random one of Frames(), which must not be empty; mostly near the stack's top.
  const FrameSample& NearFrame();
  // A random scene that can be walked; the request's own if none can.
  uint8_t AnyScene();
  // A random slot, mostly one that walkers read near the stack's top. Bytes above stack+0.
  int32_t AnySlot();

  // --- edits ---
  std::span<Edit> Edits() { return {request_.edits, request_.edit_count}; }
  // Sets `slot` to `value` by an edit; ignores slots outside of StackBytes(). If the list is full,
  // the oldest edit is removed.
  void Set(int32_t slot, const Value& value);
  void Remove(int index);

  // A random value that the request uses: a register, a word of a custom anchor, or an edit's.
  Value& AnyUsedValue();

  // --- values ---
  Value AnyValue();
  Value CodeValue();      // in generated code, mostly at the start of an instruction
  Value ReturnAddress();  // one that a call may have pushed, mostly with debug information
  Value StackValue();
  Value MethodValue();
  Value EdgeValue();      // near the edge of a mapping, a guard page, the heap or the code cache
  Value ReadableValue();  // readable memory other than the stack, for a walker to follow
  Value LiteralValue();
  // Bytes, positive or negative, never 0; mostly small and mostly a multiple of 8.
  int64_t Distance();
  Value ValueFor(int32_t slot);  // mostly of the kind that the slot holds in the undisturbed stack
  // A random place of `kind`; null if there is none.
  const Place* AnyPlace(SymbolKind kind);
  Value At(const Place& place, std::span<const uint32_t> offsets);

  // The triple of a scene's frame, unchanged; fp is 0 if unknown.
  static Triple TripleOf(const FrameSample& frame);
  // The triple of a scene's frame, as it is or with one value changed; or random values.
  Triple AnyTriple();

 private:
  Random& random_;
  const Vocabulary& words_;
  uint8_t walker_;
  WalkRequest& request_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_REQUEST_BUILDER_H_
