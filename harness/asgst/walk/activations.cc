// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/activations.h"

#include <algorithm>

namespace walkhammer::asgst {
namespace {

// Bound on the frames that damaged debug information may inline into one.
constexpr int kMostInlined = 1024;

// Reads the next physical frame and its caller; false at the end.
bool NextActivation(JavaWalk& walk, Activation& out, Registers& caller) {
  JavaFrame frame, innermost;
  for (int inlined = 0; inlined < kMostInlined && walk.Next(frame); inlined++) {
    if (inlined == 0) innermost = frame;
    if (frame.type == FrameType::kInlined) continue;
    out = {frame.pc,
           frame.sp,
           frame.fp,
           0,
           0,
           frame.method,
           innermost.method,
           innermost.bci,
           frame.code,
           frame.level,
           frame.type == FrameType::kNative,
           frame.is_top};
    if (walk.Caller(caller)) {
      out.end = caller.sp;
      out.caller_pc = caller.pc;
    }
    return true;
  }
  return false;
}

bool StandsWhereItStood(const Activation& before, const Activation& now) {
  return before.at_method == now.at_method && before.at_bci == now.at_bci;
}

// True if both are interpreted, or in the same compiled code.
bool SameForm(const Activation& a, const Activation& b) { return a.code == b.code; }

}  // namespace

bool RecordActivations(JavaWalk& walk, ActivationChain& chain) {
  chain.count = 0;
  chain.reaches_end = false;
  Activation frame;
  for (Registers caller; NextActivation(walk, frame, caller);) {
    if (chain.count == 0 && frame.is_native) continue;
    chain.frames[chain.count++] = frame;
    if (chain.count == ActivationChain::kMost) return true;
  }
  chain.reaches_end = !walk.broken();
  return chain.count > 0;
}

void StoppedStack::Take(JavaWalk& walk) {
  Standing standing;
  while (frames_.size() < kMost && NextActivation(walk, standing.frame, standing.caller))
    if (standing.frame.end != 0) frames_.push_back(standing);
}

// A frame that changes between interpreted and compiled while it runs keeps its caller's sp, except
// that compiled frames are 16-byte aligned.
const StoppedStack::Standing* StoppedStack::Find(const Activation& activation) const {
  constexpr uint64_t kAlignment = 15;
  const uint64_t low = activation.end & ~kAlignment;
  auto at = std::lower_bound(frames_.begin(), frames_.end(), low,
                             [](const Standing& s, uint64_t end) { return s.frame.end < end; });
  for (; at != frames_.end() && at->frame.end <= (activation.end | kAlignment); ++at) {
    const Activation& frame = at->frame;
    const bool same_end = frame.end == activation.end ||
                          (!SameForm(frame, activation) && (frame.end & ~kAlignment) == low);
    if (activation.end != 0 && same_end && frame.method == activation.method &&
        frame.is_native == activation.is_native)
      return &*at;
  }
  return nullptr;
}

// A frame is still there if Find() finds the frame and its callers, and its direct caller is still
// at the same call.
int StoppedStack::CountReturned(const ActivationChain& chain) const {
  int returned = chain.count;
  for (int i = chain.count - 1; i >= 0; i--) {
    const Activation& activation = chain.frames[i];
    const Standing* found = Find(activation);
    if (found == nullptr) break;
    if (i == chain.count - 1) {
      if (found->frame.caller_pc != activation.caller_pc) break;
    } else {
      const Standing* caller = Find(chain.frames[i + 1]);
      if (!StandsWhereItStood(chain.frames[i + 1], caller->frame)) break;
    }
    returned = i;
  }
  return returned;
}

Located StoppedStack::Locate(const ActivationChain& chain) const {
  Located located;
  if (chain.runner != runner_) {
    // Another virtual thread, whose frames may look the same.
    located.state = ElementState::kLost;
    located.returned = chain.count;
    located.nothing = true;
    return located;
  }
  located.returned = CountReturned(chain);
  if (located.returned == chain.count) {
    located.state = ElementState::kLost;
    // Frames that are older than all recorded ones may have been there at the sample, or not.
    const Activation& oldest = chain.frames[chain.count - 1];
    const uint64_t end = std::max(oldest.end, oldest.sp);
    const auto older = std::find_if(frames_.begin(), frames_.end(),
                                    [end](const Standing& s) { return s.frame.end > end; });
    located.nothing = chain.reaches_end || older == frames_.end();
    if (located.nothing) return located;
    located.from = {older->frame.pc, older->frame.sp, older->frame.fp, false, older->caller};
    return located;
  }
  const Activation& was = chain.frames[located.returned];
  const Standing& now = *Find(was);
  located.state = located.returned > 0                 ? ElementState::kReturned
                  : StandsWhereItStood(was, now.frame) ? ElementState::kExact
                                                       : ElementState::kMoved;
  if (SameForm(was, now.frame)) {
    // Starts where the sample found the frame, with its current callers, which cannot have changed.
    located.from = {was.pc, was.sp, was.fp, was.is_top, now.caller};
    located.has_bci = was.level == 0 && !was.is_native;
    located.bci = was.at_bci;
  } else {
    located.from = {now.frame.pc, now.frame.sp, now.frame.fp, false, now.caller};
  }
  return located;
}

}  // namespace walkhammer::asgst
