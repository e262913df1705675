// SPDX-License-Identifier: Apache-2.0
// StepTruth: what successive stacks of a stepped thread must share. At each call the stack before
// it is kept; until that call returns, every stack must end in it. A stack that differs is held
// against the walker only once enough speaks for the one that was kept: it may be the wrong one.
// Pure logic, tested without a JVM. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_TRUTH_H_
#define WALKHAMMER_STRESS_STEP_TRUTH_H_

#include <cstdint>

#include "harness/base/trace.h"

namespace walkhammer::stress {

enum class StepVerdict : uint8_t {
  kPossible,  // nothing speaks against the answer
  kWrong,     // callers that must be there are not
  kOpen,      // it differs from what was seen at the call: one of the two is wrong; see TakeProven
};

// Where a stepped thread stands.
struct StepPoint {
  enum class Code : uint8_t { kOther, kCompiled, kInterpreter };
  uint64_t pc;  // of the next instruction
  uint64_t sp;
  uint64_t link;         // where a call would have left its return address: the word at sp, or lr
  Code code;             // what `pc` lies in
  bool link_interprets;  // `link` lies in the interpreter
  uint64_t anchor_sp;    // what the JVM says of its newest Java frame while C code runs; 0: nothing
  uint64_t number = 0;   // the step's, as the caller counts them
};

// A step that was judged.
struct JudgedStep {
  uint64_t pc, number;
};

class StepTruth {
 public:
  static constexpr int kMostOpen = 24;    // instructions of one call whose verdict is open
  static constexpr int kMostProven = 64;  // with one step
  static constexpr int kMostCallers = 512;

  // `has_link_register`: calls leave their return address in a register.
  explicit StepTruth(bool has_link_register) : has_link_register_(has_link_register) {}

  // Forgets all. `depth`: the most frames that the walker gives; so many may be cut off.
  void Reset(int depth);

  // `trace`: what the walker answers at `at`. Steps must come in a row.
  StepVerdict Step(const StepPoint& at, const Trace& trace);

  // Steps whose open verdict has turned into kWrong with the last Step; how many.
  int TakeProven(const JudgedStep*& steps);

 private:
  struct Caller {
    uint64_t slot;  // where the return address stands; it has returned when sp is above
    uint64_t return_pc;
    uint64_t hash;  // of its stack
    int32_t frames;
    bool exact;  // its newest frames are known: see Call
    bool proven;
    uint16_t away;  // steps for which the callee held the return address in a register
    uint32_t agreed, disagreed;
    int32_t open;
    JudgedStep open_steps[kMostOpen];
  };
  struct Answer {
    bool usable;
    int32_t frames;
    uint64_t hash, caller_hash;  // of all; of the callers that the caller in question has
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
