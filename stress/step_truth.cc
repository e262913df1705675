#include "stress/step_truth.h"

namespace walkhammer {
namespace {

constexpr uint64_t kLongestCall = 12;  // bytes of a call instruction

// By method; byte code indexes of a caller may be told a little late.
uint64_t HashOf(const Frame* frames, int count) {
  uint64_t hash = 0x2545f4914f6cdd1d;
  for (int i = 0; i < count; i++) {
    hash = (hash ^ reinterpret_cast<uint64_t>(frames[i].method)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  return hash;
}

}  // namespace

void StepTruth::Reset() {
  depth_ = 0;
  has_before_ = false;
  proven_ = 0;
}

StepVerdict StepTruth::Step(uint64_t pc, uint64_t sp, uint64_t top_word, bool enters,
                            const Trace& trace) {
  proven_ = 0;
  const bool walked = trace.ending == Ending::kReturned && trace.num_frames > 0;
  while (depth_ > 0 && callers_[depth_ - 1].slot < sp) depth_--;
  const bool called = has_before_ && sp + 8 == sp_ && top_word > pc_ &&
                      top_word - pc_ <= kLongestCall && pc != top_word;
  if (has_before_ && (called || enters) && frames_ > 0 && depth_ < kMostCallers &&
      (depth_ == 0 || callers_[depth_ - 1].slot != sp))
    callers_[depth_++] = {sp, hash_, frames_, false, 0, {}};

  StepVerdict verdict = StepVerdict::kPossible;
  if (walked && depth_ > 0) {
    Caller& caller = callers_[depth_ - 1];
    const int extra = trace.num_frames - caller.frames;
    const bool agrees = extra >= 0 && HashOf(trace.frames + extra, caller.frames) == caller.hash;
    if (agrees && !caller.proven) {
      caller.proven = true;
      for (int i = 0; i < caller.open; i++) proven_pcs_[proven_++] = caller.open_pcs[i];
    } else if (!agrees && caller.proven) {
      verdict = StepVerdict::kWrong;
    } else if (!agrees) {
      verdict = StepVerdict::kOpen;
      if (caller.open < kMostOpen) {
        caller.open_pcs[caller.open++] = pc;
      } else {
        depth_--;  // the stack at the call was the wrong one, as far as can be told
      }
    }
  }
  has_before_ = true;
  pc_ = pc;
  sp_ = sp;
  frames_ = walked ? trace.num_frames : 0;
  if (walked) hash_ = HashOf(trace.frames, trace.num_frames);
  return verdict;
}

int StepTruth::TakeProven(const uint64_t*& pcs) {
  pcs = proven_pcs_;
  return proven_;
}

}  // namespace walkhammer
