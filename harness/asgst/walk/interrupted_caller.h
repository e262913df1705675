// SPDX-License-Identifier: Apache-2.0
// InterruptedCaller: moves to the newest Java frame from registers that are not of a frame set up
// as usual: the interpreter between two frames, C code that Java called as a leaf, the handler of
// deoptimisation, and code that the JVM generates besides methods, which is simulated up to its
// exit. Signal-safe: yes. No allocation, no lock.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_

#include <optional>
#include <utility>

#include "harness/asgst/walk/stack_position.h"

namespace walkhammer::asgst {

class InterruptedCaller : public StackPosition {
 protected:
  using StackPosition::StackPosition;

  bool BetweenInterpretedFrames();
  bool FromFrameBeingBuilt();
  bool FromLink(const FoundCode& top);
  bool FromLeafCall();
  bool MayHaveFrameAbove(uint64_t slot, uint64_t pc);
  bool FromNearestReturn();
  bool FromLeafCallByTables();
  // True, once, if FromLeafCallByTables() came to Java code that a signal interrupted: `start_` has
  // the registers of that code then.
  bool TakeSignal() { return std::exchange(found_signal_, false); }
  // True if FromLeafCallByTables() came to the thread's oldest frame through C code alone.
  bool IsWithoutJava() const { return no_java_; }
  bool InDeoptHandler(const FoundCode& code);
  void PassLocals();

  StubStart StartHere() const;
  bool FromExit(const FoundCode& code);
  bool FromFirstCall(const FoundCode& code);
  void LeaveEntry();
  void PassArguments();

  bool at_barrier_ = false;  // the stub at `at_` thaws frames of a virtual thread

 private:
  bool FromCompiledCallerByLink();
  bool FromLinkTo(const FoundCode& caller, uint64_t pc);
  void GoOnInStub(StubExit& exit);
  bool TakeExitByJump(const FoundCode& code, const StubExit& exit, uint64_t passed);
  bool TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit, bool into_interpreter);

  void StartBelow(const SignalFrame& frame);

  // The code that a signal interrupted; once set, start_ points to it and no longer to begun_.
  std::optional<WalkStart> below_signal_;
  bool found_signal_ = false, no_java_ = false;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_
