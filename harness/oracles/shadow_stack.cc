// SPDX-License-Identifier: Apache-2.0
// A sample agrees with the shadow stack that an instrumented program keeps. A method adds itself
// there as its first action and removes itself as its last. So at any instant the walk shows the
// methods of the shadow stack, or one more at the newest end. Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kShadowStackOutcomes[] = {
    {"agrees", Grade::kAcceptable, "the active methods, or one more that is entering or leaving"},
    {"wrong-frame", Grade::kForbidden, "a method that is not active there"},
    {"frames-missing", Grade::kForbidden, "active methods are not shown"},
    {"frames-too-many", Grade::kForbidden, "more methods are shown than are active"},
    {"guessed", Grade::kInteresting, "one of these, among frames that the walker called guesses"},
};
constexpr uint8_t kWrongFrame = 1, kMissing = 2, kTooMany = 3, kWrongGuess = 4;

uint16_t ShadowId(const Observation& seen, int i, const MethodEntry*& method) {
  method = seen.methods->Find(seen.trace.frames[i].method);
  return method == nullptr ? 0 : method->shadow_id.load(std::memory_order_relaxed);  // id + 1
}

uint8_t JudgeShadowStack(const Observation& seen, char* detail, size_t size) {
  if (seen.sample == nullptr || seen.sample->shadow == nullptr) return 0;
  const ShadowStack& shadow = *seen.sample->shadow;
  const int frames = seen.trace.num_frames;
  if (seen.trace.ending != Ending::kReturned || frames <= 0 || frames >= seen.request->depth)
    return 0;
  const uint32_t depth = shadow.depth.load(std::memory_order_acquire);
  if (shadow.magic.load() != ShadowStack::kMagic || depth > ShadowStack::kMostFrames) return 0;
  uint32_t shown = 0;
  int newest = frames;                     // index of the newest frame that is the program's
  for (int i = frames - 1; i >= 0; i--) {  // outermost first
    const MethodEntry* method = nullptr;
    const uint16_t id = ShadowId(seen, i, method);
    if (id == 0) continue;
    if (shown < depth && shadow.ids[shown] + 1 != id) {
      std::snprintf(detail, size, "frame %d is %s, which is not number %u of the %u active ones", i,
                    method->name, shown, depth);
      // If callers are missing before a guess, this is the frame before the gap.
      return seen.trace.IsGuess(i + 1) ? kWrongGuess : kWrongFrame;
    }
    shown++;
    newest = i;
  }
  if (shown == depth || shown == depth + 1) return 0;
  std::snprintf(detail, size, "%u of the program's methods shown, %u are active", shown, depth);
  if (seen.trace.IsGuess(newest)) return kWrongGuess;
  return shown < depth ? kMissing : kTooMany;
}

}  // namespace

const Oracle kShadowStackOracle = {"shadow-stack", "samples agree with the program's own record",
                                   kShadowStackOutcomes, JudgeShadowStack, kSampled};

}  // namespace walkhammer
