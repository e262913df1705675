// StepTruth: what successive stacks of a stepped thread must share. At each call the stack before
// it is kept; until that call returns, every stack must end in it. Pure logic, tested without a
// JVM. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEP_TRUTH_H_
#define WALKHAMMER_STRESS_STEP_TRUTH_H_

#include <cstdint>

#include "harness/walkers/trace.h"

namespace walkhammer {

enum class StepVerdict : uint8_t {
  kPossible,  // nothing speaks against the answer
  kWrong,     // callers that must be there are not
  kOpen,      // it differs from what was seen at the call: one of the two is wrong; see TakeProven
};

class StepTruth {
 public:
  static constexpr int kMostOpen = 24;  // instructions of one call whose verdict is open

  void Reset();

  // The thread stands before the instruction at `pc`. `top_word`: the word at sp.
  // `enters`: it came here from the interpreter by way of a jump that calls a method.
  // `trace`: what the walker answers here.
  StepVerdict Step(uint64_t pc, uint64_t sp, uint64_t top_word, bool enters, const Trace& trace);

  // Instructions whose open verdict has turned into kWrong with the last Step; how many.
  int TakeProven(const uint64_t*& pcs);

 private:
  struct Caller {
    uint64_t slot;  // where the return address stands
    uint64_t hash;  // of its stack
    int32_t frames;
    bool proven;  // a stack inside of the call agreed
    int32_t open;
    uint64_t open_pcs[kMostOpen];
  };
  static constexpr int kMostCallers = 512;

  Caller callers_[kMostCallers];
  int depth_ = 0;
  bool has_before_ = false;
  uint64_t pc_ = 0, sp_ = 0;  // of the step before
  uint64_t hash_ = 0;
  int32_t frames_ = 0;  // of the step before; 0 or less: not walked
  int proven_ = 0;
  uint64_t proven_pcs_[kMostOpen] = {};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_STRESS_STEP_TRUTH_H_
