// SPDX-License-Identifier: Apache-2.0
// No frame comes twice in a row except by recursion: the frame's bytecode must be a call then.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kRepeatedFrameOutcomes[] = {
    {"once", Grade::kAcceptable, "no frame twice, but by recursion"},
    {"twice", Grade::kForbidden, "the same activation was walked twice"},
    {"guessed", Grade::kInteresting, "twice, the second time as a guess of the walker's"},
    {"no-place", Grade::kInteresting,
     "twice at bytecode 0, which HotSpot gives to deoptimized callers: it may be recursion"},
};

// True for invokevirtual .. invokedynamic, rewritten (HotSpot's own) and unknown bytecodes.
bool MayCall(int byte_code) {
  return byte_code < 0 || (byte_code >= 0xb6 && byte_code <= 0xba) || byte_code > 0xc9;
}

uint8_t JudgeRepeatedFrame(const Observation& seen, char* detail, size_t size) {
  if (seen.sample == nullptr || seen.sample->byte_code == nullptr) return 0;
  if (seen.trace.ending != Ending::kReturned || seen.trace.num_frames > seen.request->depth)
    return 0;
  for (int i = 1; i < seen.trace.num_frames; i++) {
    const Frame& caller = seen.trace.frames[i];
    const Frame& callee = seen.trace.frames[i - 1];
    if (caller.method != callee.method || caller.bci != callee.bci || caller.bci < 0) continue;
    const MethodEntry* method = seen.methods->Find(caller.method);
    if (method == nullptr || method->unloaded.load(std::memory_order_relaxed)) continue;
    if (caller.bci >= method->code_size) continue;  // left to the oracle bci
    const int byte_code = seen.sample->byte_code(caller.method, caller.bci);
    if (MayCall(byte_code)) continue;
    std::snprintf(detail, size,
                  "frames %d and %d are both %s @ %d, where bytecode 0x%x calls nobody", i - 1, i,
                  method->name, caller.bci, static_cast<unsigned>(byte_code));
    if (seen.trace.IsGuess(i)) return 2;
    return caller.bci == 0 ? 3 : 1;
  }
  return 0;
}

}  // namespace

const Oracle kRepeatedFrameOracle = {"repeated-frame", "no frame twice without recursion",
                                     kRepeatedFrameOutcomes, JudgeRepeatedFrame, kSampled};

}  // namespace walkhammer
