// SPDX-License-Identifier: Apache-2.0
// InterruptedCaller: moves from interrupted registers to the newest frame where these are not of a
// frame that is set up as usual: the interpreter between two frames, C code that Java called as a
// leaf, the handler of deoptimisation. Signal-safe: yes. No allocation, no lock.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_

#include "harness/asgst/walk/stub_caller.h"

namespace walkhammer::asgst {

class InterruptedCaller : public StubCaller {
 protected:
  using StubCaller::StubCaller;

  bool BetweenInterpretedFrames();
  bool FromFrameBeingBuilt();
  bool FromLink(const FoundCode& top);
  bool FromLeafCall();
  bool FromLeafCallByTables();
  bool InDeoptHandler(const FoundCode& code);
  void PassLocals();

 private:
  bool FromCompiledCallerByLink();
  bool FromLinkTo(const FoundCode& caller, uint64_t pc);
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_INTERRUPTED_CALLER_H_
