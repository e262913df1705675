// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/mutator.h"

#include <algorithm>

#include "harness/generate/mutations.h"

namespace walkhammer {
namespace {

constexpr int kMostTries = 8;  // to find a mutation that applies, for each change

uint32_t TotalWeight() {
  uint32_t total = 0;
  for (const Mutation& mutation : AllMutations()) total += mutation.weight;
  return total;
}

const Mutation& AnyMutation(Random& random) {
  static const uint32_t total = TotalWeight();
  uint32_t at = random.Below(total);
  for (const Mutation& mutation : AllMutations()) {
    if (at < mutation.weight) return mutation;
    at -= mutation.weight;
  }
  return AllMutations()[0];
}

// Makes the request valid. Slots beyond the stack's end wrap around, as they do in the walk line.
void Tidy(RequestBuilder& builder) {
  WalkRequest& request = builder.request();
  request.walker = builder.walker();
  request.origin = Origin::kMade;
  request.depth = std::clamp<uint16_t>(request.depth, 1, WalkRequest::kMaxDepth);
  const int32_t bytes = builder.StackBytes();
  for (Edit& edit : builder.Edits()) edit.slot = edit.slot % bytes & ~7;
  if (request.anchor != AnchorMode::kCustom)
    request.anchor_sp = request.anchor_pc = request.anchor_fp = Value{};
}

void TakeRegisters(const WalkRequest& from, WalkRequest& to) {
  to.state = from.state;
  to.anchor = from.anchor;
  to.pc = from.pc;
  to.sp = from.sp;
  to.fp = from.fp;
  to.lr = from.lr;
  to.anchor_sp = from.anchor_sp;
  to.anchor_pc = from.anchor_pc;
  to.anchor_fp = from.anchor_fp;
}

}  // namespace

void Mutator::Mutate(Random& random, WalkRequest& request) const {
  RequestBuilder builder(random, words_, walker_, request);
  if (builder.stack().available == 0) request.scene = builder.AnyScene();
  int changes = 1;
  while (changes < 5 && random.Chance(35)) changes++;
  for (int i = 0; i < changes; i++)
    for (int tries = 0; tries < kMostTries; tries++)
      if (AnyMutation(random).apply(builder)) break;
  Tidy(builder);
}

void Mutator::CrossOver(Random& random, const WalkRequest& a, const WalkRequest& b,
                        WalkRequest& child) const {
  const WalkRequest* first = &a;
  const WalkRequest* second = &b;
  if (random.Chance(50)) std::swap(first, second);
  child = *first;
  RequestBuilder builder(random, words_, walker_, child);
  const std::span<const Edit> others(second->edits, second->edit_count);
  switch (random.Below(4)) {
    case 0:  // the second's registers on the first's stack
      TakeRegisters(*second, child);
      break;
    case 1:  // the first's registers and edits in the second's scene
      child.scene = second->scene;
      break;
    case 2:  // edits of both, each with a chance of one half, and the registers of either
      for (int i = child.edit_count - 1; i >= 0; i--)
        if (random.Chance(50)) builder.Remove(i);
      for (const Edit& edit : others)
        if (random.Chance(50) && child.edit_count < WalkRequest::kUsualEdits)
          child.edits[child.edit_count++] = edit;
      if (random.Chance(50)) TakeRegisters(*second, child);
      break;
    default: {  // the first's edits below some slot, the second's from there on
      const int32_t cut = 8 * static_cast<int32_t>(random.Below(
                                  static_cast<uint32_t>(std::min(builder.StackBytes(), 1024) / 8)));
      for (int i = child.edit_count - 1; i >= 0; i--)
        if (child.edits[i].slot >= cut) builder.Remove(i);
      for (const Edit& edit : others)
        if (edit.slot >= cut && child.edit_count < WalkRequest::kUsualEdits)
          child.edits[child.edit_count++] = edit;
      break;
    }
  }
  if (builder.stack().available == 0) child.scene = builder.AnyScene();
  Tidy(builder);
}

}  // namespace walkhammer
