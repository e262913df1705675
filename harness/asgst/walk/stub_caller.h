// SPDX-License-Identifier: Apache-2.0
// StubCaller: moves from code that the JVM generates besides methods to the Java frame that this
// code serves, by simulating the code up to its exit. Signal-safe: yes. No allocation, no lock.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_STUB_CALLER_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_STUB_CALLER_H_

#include "harness/asgst/walk/stack_position.h"

namespace walkhammer::asgst {

class StubCaller : public StackPosition {
 protected:
  using StackPosition::StackPosition;

  StubStart StartAt(uint64_t pc, uint64_t sp, uint64_t fp) const;
  bool FromExit(const FoundCode& code, const StubStart& start);
  bool FromFirstCall(const FoundCode& code);
  bool FromStubWithoutFrame();
  void LeaveEntry();
  void PassArguments();

  bool at_barrier_ = false;  // the stub at `at_` brings frames of a virtual thread

 private:
  void GoOnInStub(StubExit& exit);
  bool TakeExitByJump(const FoundCode& code, const StubExit& exit, uint64_t passed);
  bool TakeCaller(uint64_t pc, uint64_t sp, const StubExit& exit, bool into_interpreter);
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_STUB_CALLER_H_
