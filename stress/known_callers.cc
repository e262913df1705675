// SPDX-License-Identifier: Apache-2.0
#include "stress/known_callers.h"

#include <algorithm>
#include <bit>

namespace walkhammer::stress {
namespace {

using Caller = SteppedCall::Caller;

constexpr int kMostInlined = 40;  // frames of one nmethod at one pc, where nothing tells how many

// A set of places in an answer: bit i is in front of frame i, so that i newer frames are spoken
// for. All the places are kept at which the frames of the callers so far may end.
using Places = uint64_t;

class Answer {
 public:
  explicit Answer(const AnsweredFrames& frames) : frames_(frames) {}

  // The places in front of a frame that may be of `method`.
  Places Of(uint64_t method) const {
    if (method == 0) return All() & ~(frames_.goes_on ? 0 : Bit(frames_.count));
    Places places = Beyond();
    for (int i = 0; i < frames_.count; i++)
      if (frames_.methods[i] == method || frames_.methods[i] == 0) places |= Bit(i);
    return places;
  }
  // All places from the newest of `places` on.
  Places From(Places places) const {
    return places == 0 ? 0 : ~(Bit(std::countr_zero(places)) - 1) & All();
  }
  // The places behind the frames that begin at one of `places`, are all of one nmethod, and the
  // oldest of which is of `method`.
  Places BehindInlined(Places places, uint64_t method) const {
    if (places == 0) return 0;
    const int last = 63 - std::countl_zero(places) + kMostInlined;
    return (From(places) & (last < 63 ? Bit(last) - 1 : ~Places{0}) & Of(method)) << 1;
  }
  // The places behind the frames of a caller that begin at one of `places`.
  Places Behind(Places places, const SteppedCall& nmethod) const {
    if (nmethod.frames <= 0 || nmethod.frames > AnsweredFrames::kMost)
      return BehindInlined(places, nmethod.method);
    if (nmethod.newest != 0) places &= Of(nmethod.newest);
    if (nmethod.frames > std::countl_zero(places) && frames_.goes_on) return Beyond();
    return (places << (nmethod.frames - 1) & Of(nmethod.method)) << 1;
  }
  bool IsBeyond(Places places) const { return (places & Beyond()) != 0; }

 private:
  static Places Bit(int i) { return Places{1} << i; }
  Places All() const { return frames_.goes_on ? ~Places{0} : Bit(frames_.count + 1) - 1; }
  Places Beyond() const { return frames_.goes_on ? ~(Bit(frames_.count) - 1) : 0; }

  const AnsweredFrames& frames_;
};

Places Begin(const Answer& answer, SteppedCode code, uint64_t running,
             std::span<const SteppedCall> calls) {
  constexpr Places kNone = 1, kNoneOrOne = 3;
  switch (code) {
    case SteppedCode::kNative:
    case SteppedCode::kStub:
      return kNone;
    case SteppedCode::kReframing:
      return answer.From(kNone);
    case SteppedCode::kAdapter:
    case SteppedCode::kByteCode:
    case SteppedCode::kInterpreter:
    case SteppedCode::kWrapper:
      return kNoneOrOne;
    case SteppedCode::kCompiled:
      break;
  }
  const bool within = !calls.empty() && calls.back().is_within && calls.back().method == running;
  return answer.BehindInlined(kNone, running) | (within ? kNone : 0);
}

}  // namespace

void AnsweredFrames::Measure(const Trace& trace, int depth) {
  const bool guesses = trace.IsGuess(trace.num_frames - 1);
  const int vouched = guesses ? trace.guessed_from : trace.num_frames;
  count = std::min(vouched, kMost);
  goes_on = guesses || vouched > kMost || trace.num_frames >= depth || trace.MayGoOn();
}

CallerVerdict JudgeCallers(SteppedCode code, uint64_t running, std::span<const SteppedCall> calls,
                           const AnsweredFrames& frames) {
  const Answer answer(frames);
  Places places = Begin(answer, code, running, calls);
  bool has_known = false;
  for (size_t i = calls.size(); i-- > 0;) {
    if (answer.IsBeyond(places)) break;
    const SteppedCall& call = calls[i];
    if (call.caller == Caller::kNoJava) continue;
    if (call.caller == Caller::kUnknown) {
      places = answer.From(places);
      continue;
    }
    if (call.caller == Caller::kInterpreted && call.method == 0) {
      places |= (places & answer.Of(0)) << 1;
      continue;
    }
    has_known = true;
    const Places here = call.may_lack ? places : 0;
    places = call.caller == Caller::kInterpreted ? (places & answer.Of(call.method)) << 1
                                                 : answer.Behind(places, call);
    places |= here;
    if (places == 0) return CallerVerdict::kContradicted;
  }
  return has_known ? CallerVerdict::kProven : CallerVerdict::kUnknown;
}

std::span<const SteppedCall> NewestCalls(std::span<const SteppedCall> calls,
                                         const CodeReader& code) {
  for (size_t i = calls.size(); i-- > 0;) {
    const SteppedCall& call = calls[i];
    const bool is_c = call.caller == Caller::kNoJava && !code.IsGenerated(call.return_pc);
    if (is_c || call.caller == Caller::kUnknown) return {};
    const bool may_have_no_frame = call.caller == Caller::kInterpreted && call.method == 0;
    const bool is_of_running = call.is_pushed || call.is_within;
    if (call.caller == Caller::kNoJava || may_have_no_frame || is_of_running || call.may_lack)
      continue;
    return calls.subspan(i);
  }
  return {};
}

}  // namespace walkhammer::stress
