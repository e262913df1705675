// SPDX-License-Identifier: Apache-2.0
// StepTruth: what successive stacks of a stepped thread must share. At each call it keeps the stack
// before the call. Until the call returns, every stack must end in the kept one. As the kept stack
// may be the wrong one, a stack that differs counts against the walker only once enough answers
// confirm the kept stack.
// Pure logic, tested without a JVM. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_TRUTH_H_
#define WALKHAMMER_STRESS_STEP_TRUTH_H_

#include <cstdint>

#include "harness/base/trace.h"

namespace walkhammer::stress {

enum class StepVerdict : uint8_t {
  kPossible,  // nothing speaks against the answer
  kWrong,     // callers that must be there are not
  kOpen,      // the answer differs from the stack at the call, and one of them is wrong: TakeProven
};

// Where a stepped thread is.
struct StepPoint {
  enum class Code : uint8_t { kOther, kCompiled, kInterpreter };
  uint64_t pc;  // of the next instruction
  uint64_t sp;
  uint64_t link;         // right after a call, its return address: [sp], or lr
  Code code;             // what `pc` is in
  bool link_interprets;  // `link` is in the interpreter
  uint64_t anchor_sp;    // of the newest Java frame, by the JVM, while C code runs; 0: not set
  uint64_t number = 0;   // of the step, as the caller counts steps
};

// A step that was judged.
struct JudgedStep {
  uint64_t pc, number;
};

class StepTruth {
 public:
  static constexpr int kMostOpen = 24;    // steps of one call whose verdict is open
  static constexpr int kMostProven = 64;  // steps that one Step can prove wrong
  static constexpr int kMostCallers = 512;

  // `has_link_register`: calls leave their return address in a register.
  explicit StepTruth(bool has_link_register) : has_link_register_(has_link_register) {}

  // Forgets all steps. `depth`: the most frames that the walker returns; a stack of so many may be
  // truncated.
  void Reset(int depth);

  // Judges `trace`, the walker's answer at `at`. No step may be left out in between.
  StepVerdict Step(const StepPoint& at, const Trace& trace);

  // Sets `steps` to the steps whose open verdict the last Step has turned into kWrong, and returns
  // their number. The array is owned by this object, and valid until the next Step.
  int TakeProven(const JudgedStep*& steps);

 private:
  struct Caller {
    uint64_t slot;  // address of the return address; the call has returned when sp > slot
    uint64_t return_pc;
    uint64_t hash;  // of the caller's stack
    int32_t frames;
    bool exact;  // the caller's newest frames are known: see Call
    bool proven;
    uint16_t away;  // steps for which the callee held the return address in a register
    uint32_t agreed, disagreed;
    int32_t open;
    JudgedStep open_steps[kMostOpen];
  };
  struct Answer {
    bool usable;
    int32_t frames;
    uint64_t hash, caller_hash;  // of all frames; of the oldest `caller_frames` of them
  };

  Answer Read(const Trace& trace, int caller_frames) const;
  bool Inside(const Caller& caller, const StepPoint& at) const;
  void Return(const StepPoint& at, const Trace& trace);
  void Call(const StepPoint& at);
  StepVerdict Judge(Caller& caller, const StepPoint& at, const Answer& answer);
  void Prove(Caller& caller);

  const bool has_link_register_;
  int depth_limit_ = INT32_MAX;
  Caller callers_[kMostCallers];
  int depth_ = 0;
  bool has_before_ = false;
  StepPoint before_{};
  uint64_t hash_ = 0;
  int32_t frames_ = 0;  // of the step before; 0: no usable answer
  int proven_ = 0;
  JudgedStep proven_steps_[kMostProven] = {};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEP_TRUTH_H_
