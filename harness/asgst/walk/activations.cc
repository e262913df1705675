// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/activations.h"

#include <algorithm>

namespace walkhammer::asgst {
namespace {

// Bound on the frames that damaged debug information may inline into one.
constexpr int kMostRecorded = 1024;

// Reads the next physical frame and its caller; false at the end.
bool NextActivation(JavaWalk& walk, Activation& out, Registers& caller) {
  JavaFrame frame;
  out = {};
  for (int inlined = 0; inlined < kMostRecorded && walk.Next(frame); inlined++) {
    if (inlined == 0) {
      out.at_method = frame.method;
      out.at_bci = frame.bci;
      out.at_inlined = frame.type == FrameType::kInlined;
      if (out.at_inlined && !walk.PlaceOfScopes(out.place)) out.place = {};
    }
    if (frame.type == FrameType::kInlined) continue;
    out.place.pc = frame.pc;
    out.place.code = frame.code;
    out.sp = frame.sp;
    out.fp = frame.fp;
    out.method = frame.method;
    out.level = frame.level;
    out.is_native = frame.type == FrameType::kNative;
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
bool SameForm(const Activation& a, const Activation& b) { return a.place.code == b.place.code; }

// Both have called. A frame goes over to other code only once it goes on, and one method may be
// inlined at several places of the same code.
bool IsAtSameCall(const Activation& before, const Activation& now) {
  return StandsWhereItStood(before, now) && SameForm(before, now) &&
         before.place.offset == now.place.offset;
}

JavaFrame FrameOf(const Activation& activation, FrameType type, uint64_t method, int32_t bci) {
  return {type, activation.level, bci, method, activation.place.pc, 0, 0, {}};
}

// Appends what `walk` finds inlined where the activation stood, and the activation's own method.
// False, with `frames` as it was, if the code is gone.
bool AppendInlined(JavaWalk& walk, const Activation& activation, std::vector<JavaFrame>& frames) {
  const size_t size = frames.size();
  if (activation.place.offset != 0 && walk.BeginAtScopes(activation.place)) {
    JavaFrame frame;
    for (int n = 0; n < kMostRecorded && walk.Next(frame); n++) {
      if (n == 0 && (frame.method != activation.at_method || frame.bci != activation.at_bci)) break;
      frames.push_back(frame);
      if (frame.type == FrameType::kInlined) continue;
      if (n > 0 && frame.method == activation.method) return true;
      break;
    }
  }
  frames.resize(size);
  return false;
}

constexpr uint64_t kAlignment = 15;  // of compiled frames, a mask

}  // namespace

bool RecordActivations(JavaWalk& walk, ActivationChain& chain) {
  chain.count = 0;
  chain.reaches_end = false;
  chain.has_caller = false;
  Activation frame;
  for (Registers caller; NextActivation(walk, frame, caller);) {
    if (chain.count == 0 && frame.is_native) continue;
    chain.frames[chain.count] = frame;
    chain.has_caller = chain.count == ActivationChain::kMost;
    if (chain.has_caller) return true;
    chain.count++;
  }
  chain.reaches_end = !walk.broken();
  return chain.count > 0;
}

EndRange EndsOf(const ActivationChain& chain) {
  EndRange ends = {UINT64_MAX, 0};
  for (int i = 0; i < chain.count + (chain.has_caller ? 1 : 0); i++) {
    ends.last = std::max(ends.last, chain.frames[i].end);
    // Without a place: it may be anywhere below its caller.
    if (chain.frames[i].end != 0 || chain.frames[i].sp == 0)
      ends.first = std::min(ends.first, chain.frames[i].end);
  }
  return ends;
}

// Before a thread that recurses comes to a poll, it may have called for thousands of frames.
void StoppedStack::Take(JavaWalk& walk, std::span<const EndRange> ranges) {
  Standing standing;
  size_t r = 0;
  for (int n = 0; n < kMost && r < ranges.size(); n++) {
    const uint64_t first = ranges[r].first & ~kAlignment;
    walk.PassCompiled(first);
    if (!NextActivation(walk, standing.frame, standing.caller)) return;
    const uint64_t end = standing.frame.end;
    if (end != 0 && end >= first) frames_.push_back(standing);
    while (r < ranges.size() && end > (ranges[r].last | kAlignment)) r++;
  }
}

// A frame that changes between interpreted and compiled while it runs keeps its caller's sp, except
// that compiled frames are 16-byte aligned.
const StoppedStack::Standing* StoppedStack::Find(const Activation& activation) const {
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

// A frame that deoptimisation had yet to lay out had no place. It is now the one that `caller`, its
// caller, has called.
const StoppedStack::Standing* StoppedStack::FindCallee(const Activation& activation,
                                                       const Standing* caller) const {
  if (activation.end != 0) return Find(activation);
  if (activation.sp != 0 || caller == nullptr || caller == frames_.data()) return nullptr;
  const Standing* found = caller - 1;
  const Activation& frame = found->frame;
  const bool is_callee =
      found->caller.pc == caller->frame.place.pc && found->caller.fp == caller->frame.fp;
  return is_callee && frame.method == activation.method && !frame.is_native ? found : nullptr;
}

// A frame is still there if FindCallee() finds the frame and its callers, and its direct caller is
// still at the same call. `newest`: the newest that is; null: none.
int StoppedStack::CountReturned(const ActivationChain& chain, const Standing*& newest) const {
  newest = nullptr;
  const Standing* caller = chain.has_caller ? Find(chain.frames[chain.count]) : nullptr;
  int returned = chain.count;
  for (int i = chain.count - 1; i >= 0; i--) {
    const Activation& activation = chain.frames[i];
    const Standing* found = FindCallee(activation, caller);
    if (found == nullptr) break;
    if (i == chain.count - 1 && !chain.has_caller) {
      if (found->frame.caller_pc != activation.caller_pc) break;
    } else if (caller == nullptr || !IsAtSameCall(chain.frames[i + 1], caller->frame)) {
      break;
    }
    returned = i;
    newest = caller = found;
  }
  return returned;
}

Located StoppedStack::Locate(const ActivationChain& chain) const {
  Located located;
  // The frames of another virtual thread may look the same.
  const Standing* newest = nullptr;
  located.returned = chain.runner == runner_ ? CountReturned(chain, newest) : chain.count;
  if (located.returned == chain.count) {
    located.state = ElementState::kLost;
    located.recorded = chain.count;
    // Frames that are older than all recorded ones may have been there at the sample, or not.
    located.then = chain.reaches_end ? Located::Then::kEnd : Located::Then::kUnknown;
    return located;
  }
  const Activation& was = chain.frames[located.returned];
  const Standing& now = *newest;
  located.state = located.returned > 0                 ? ElementState::kReturned
                  : StandsWhereItStood(was, now.frame) ? ElementState::kExact
                                                       : ElementState::kMoved;
  located.recorded = located.returned + 1;
  located.in_place = SameForm(was, now.frame);
  located.then = Located::Then::kCaller;
  located.caller = now.caller;
  return located;
}

std::vector<JavaFrame> RecordedFrames(const WalkLayout& layout, const MemoryReader& memory,
                                      const WalkStart& start, const ActivationChain& chain,
                                      const Located& located) {
  std::vector<JavaFrame> frames;
  JavaWalk walk(layout, memory, start);
  for (int i = 0; i < located.recorded; i++) {
    const Activation& activation = chain.frames[i];
    const size_t first = frames.size();
    if (!activation.at_inlined) {
      frames.push_back(FrameOf(activation,
                               activation.is_native ? FrameType::kNative : FrameType::kJava,
                               activation.method, activation.at_bci));
    } else if (!AppendInlined(walk, activation, frames)) {
      frames.push_back(
          FrameOf(activation, FrameType::kInlined, activation.at_method, activation.at_bci));
      frames.push_back(FrameOf(activation, FrameType::kJava, activation.method, -1));
    }
    if (i < located.returned || !located.in_place) continue;
    for (size_t n = first; n < frames.size(); n++) {
      frames[n].sp = activation.sp;
      frames[n].fp = activation.fp;
    }
  }
  return frames;
}

}  // namespace walkhammer::asgst
