// SPDX-License-Identifier: Apache-2.0
#include "stress/step_truth.h"

#include "harness/base/hash.h"

namespace walkhammer::stress {
namespace {

using Code = StepPoint::Code;

constexpr uint64_t kLongestCall = 12;  // bytes of a call instruction
constexpr uint64_t kWord = 8;
// An adapter or a method's entry takes the return address off the stack, and an argument with it,
// and puts the return address back further down, below the callee's locals.
constexpr uint64_t kMostTaken = 2 * kWord;
constexpr uint16_t kMostAway = 4096;
constexpr uint32_t kEnoughAgreed = 4;
constexpr uint32_t kMostAlone = 8;  // answers against what the call and the return agree on

// Stacks are compared by method alone: the bci of a caller may be reported a little late.
}  // namespace

void StepTruth::Reset(int depth) {
  depth_limit_ = depth;
  depth_ = 0;
  has_before_ = false;
  frames_ = 0;
  proven_ = 0;
}

// Reads an answer. An answer is not usable, as it cannot be compared, if it has no frames, may be
// truncated, has a method without an id (any more, as when the method was redefined), or ends in
// guesses: the walker does not vouch for its oldest frames then, and these are what is compared.
StepTruth::Answer StepTruth::Read(const Trace& trace, int caller_frames) const {
  Answer answer{false, 0, 0x2545f4914f6cdd1d, 0};
  if (trace.ending != Ending::kReturned || trace.num_frames <= 0 ||
      trace.num_frames >= depth_limit_ || trace.IsGuess(trace.num_frames - 1))
    return answer;
  answer.frames = trace.num_frames;
  for (int i = 0; i < trace.num_frames; i++) {
    const void* method = trace.frames[trace.num_frames - 1 - i].method;
    if (method == nullptr) return answer;
    answer.hash = Mix(answer.hash, method);
    if (i + 1 == caller_frames) answer.caller_hash = answer.hash;
  }
  answer.usable = true;
  return answer;
}

void StepTruth::Prove(Caller& caller) {
  for (int i = 0; i < caller.open && proven_ < kMostProven; i++)
    proven_steps_[proven_++] = caller.open_steps[i];
  caller.open = 0;
}

bool StepTruth::Inside(const Caller& caller, const StepPoint& at) const {
  if (has_link_register_) return at.sp <= caller.slot && at.pc != caller.return_pc;
  return at.sp <= caller.slot;
}

// Drops the callers that were returned to, by whatever way. A virtual thread that leaves its
// carrier takes its frames with it: these frames are still on the stack, but the anchor moves past
// them.
void StepTruth::Return(const StepPoint& at, const Trace& trace) {
  if (has_before_ && before_.anchor_sp != 0 && at.anchor_sp > before_.anchor_sp)
    while (depth_ > 0 && callers_[depth_ - 1].slot < at.anchor_sp) depth_--;
  const uint64_t taken = has_link_register_ ? 0 : kWord;  // bytes, by the return
  while (depth_ > 0) {
    Caller& caller = callers_[depth_ - 1];
    if (Inside(caller, at)) return;
    if (at.pc == caller.return_pc && at.sp == caller.slot + taken) {
      // Back where the call was: the same stack as then confirms the kept one.
      const Answer answer = Read(trace, caller.frames);
      if (caller.exact && answer.usable && answer.frames == caller.frames &&
          answer.hash == caller.hash && caller.disagreed <= 2 * caller.agreed + kMostAlone)
        Prove(caller);
    } else if (!has_link_register_ && at.sp <= caller.slot + kMostTaken &&
               caller.away < kMostAway) {
      caller.away++;
      return;
    }
    depth_--;
  }
}

void StepTruth::Call(const StepPoint& at) {
  if (!has_before_) return;
  const bool pushed = has_link_register_ ? at.link != before_.link : at.sp + kWord == before_.sp;
  const bool called =
      pushed && at.link > before_.pc && at.link - before_.pc <= kLongestCall && at.pc != at.link;
  Caller* top = depth_ > 0 ? &callers_[depth_ - 1] : nullptr;
  if (!called && top != nullptr && !has_link_register_ && at.sp < before_.sp &&
      at.link == top->return_pc && (top->away > 0 || at.sp < top->slot)) {
    top->slot = at.sp;  // the return address was put back
    top->away = 0;
    return;
  }
  // The interpreter leaves its return address and jumps instead of calling.
  const bool enters = pushed && before_.code == Code::kInterpreter && at.link_interprets;
  if (!called && !enters) return;
  while (depth_ > 0 && (callers_[depth_ - 1].away > 0 || callers_[depth_ - 1].slot == at.sp)) {
    // The new call takes the place of this caller. With a link register, a callee without a frame
    // of its own calls at the same sp: then this caller stays.
    if (has_link_register_ && callers_[depth_ - 1].away == 0) break;
    depth_--;
  }
  if (frames_ <= 0 || depth_ == kMostCallers) return;
  Caller& caller = callers_[depth_++];
  caller.slot = at.sp;
  caller.return_pc = at.link;
  caller.hash = hash_;
  caller.frames = frames_;
  // Compiled code describes its frames only at calls into Java. At calls of stubs and runtime
  // routines a walker must guess what was inlined there, before the call and during it.
  caller.exact = before_.code != Code::kCompiled || at.code != Code::kOther;
  caller.proven = false;
  caller.away = 0;
  caller.agreed = caller.disagreed = 0;
  caller.open = 0;
}

StepVerdict StepTruth::Judge(Caller& caller, const StepPoint& at, const Answer& answer) {
  if (answer.frames >= caller.frames && answer.caller_hash == caller.hash) {
    caller.agreed++;
    if (!caller.proven && caller.exact && caller.agreed >= kEnoughAgreed &&
        caller.agreed > 2 * caller.disagreed) {
      caller.proven = true;
      Prove(caller);
    }
    return StepVerdict::kPossible;
  }
  caller.disagreed++;
  if (caller.proven) return StepVerdict::kWrong;
  if (caller.open < kMostOpen) caller.open_steps[caller.open++] = {at.pc, at.number};
  return StepVerdict::kOpen;
}

StepVerdict StepTruth::Step(const StepPoint& at, const Trace& trace) {
  proven_ = 0;
  Return(at, trace);
  Call(at);
  // A call that reaches Java through adapters and stubs was a call into Java.
  if (depth_ > 0 && at.code != Code::kOther && callers_[depth_ - 1].away == 0)
    callers_[depth_ - 1].exact = true;
  int judging = depth_;
  if (judging > 0 && callers_[judging - 1].away > 0) judging--;
  Caller* caller = judging > 0 ? &callers_[judging - 1] : nullptr;
  const Answer answer = Read(trace, caller == nullptr ? 0 : caller->frames);
  StepVerdict verdict = StepVerdict::kPossible;
  if (answer.usable && caller != nullptr) verdict = Judge(*caller, at, answer);
  has_before_ = true;
  before_ = at;
  frames_ = answer.usable ? answer.frames : 0;
  hash_ = answer.hash;
  return verdict;
}

int StepTruth::TakeProven(const JudgedStep*& steps) {
  steps = proven_steps_;
  return proven_;
}

}  // namespace walkhammer::stress
