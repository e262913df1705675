// SPDX-License-Identifier: Apache-2.0
// InterruptedCaller: moves to the newest Java frame where the interrupted code has no complete
// frame of its own: the interpreter between two frames, C code that Java called as a leaf, the
// handler of deoptimisation, and generated code that belongs to no method, which is simulated up to
// its exit. Signal-safe: yes. No allocation, no lock.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_

#include <optional>
#include <utility>

#include "harness/asgst/walk/stack_position.h"

namespace walkhammer::asgst {

class InterruptedCaller : public StackPosition {
 protected:
  using StackPosition::StackPosition;

  // Each returns true once it has moved to the caller. The .cc says by which equations.
  bool BetweenInterpretedFrames();      // the interpreter has no frame yet, or has left it
  bool FromFrameBeingBuilt();           // the interpreter has a part of its frame
  bool FromLink(const FoundCode& top);  // code that has not called yet: the caller is in lr
  bool FromLeafCall();                  // C code that Java called without an anchor
  bool FromNearestReturn();             // the same: the nearest return address above sp
  bool FromLeafCallByTables();          // the same, by unwind tables
  // False if a return address at `slot` that leads to `pc` cannot have the frame of its compiled
  // code above it.
  bool MayHaveFrameAbove(uint64_t slot, uint64_t pc);
  // True, once, if FromLeafCallByTables() came to Java code that a signal interrupted: `start_` has
  // the registers of that code then.
  bool TakeSignal() { return std::exchange(found_signal_, false); }
  // True if FromLeafCallByTables() came to the thread's oldest frame through C code alone.
  bool IsWithoutJava() const { return no_java_; }
  // True if the pc was in an nmethod's handler of deoptimisation. Moves to the frame of the
  // nmethod.
  bool InDeoptHandler(const FoundCode& code);
  // Moves sp over the locals of an interpreted callee that has left its frame.
  void PassLocals();

  // Registers from which code at the current position is simulated.
  StubStart StartHere() const;
  // True if the caller was found at the simulated exit of `code`, or if `code` is a codelet that
  // calls its own code: the position then stays.
  bool FromExit(const FoundCode& code);
  // True if the caller was found by the frame that `code` has at its first call.
  bool FromFirstCall(const FoundCode& code);
  // Leaves an entry of the interpreter that has no frame.
  void LeaveEntry();
  // Moves sp over words that compiled code has pushed below its frame.
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
