// SPDX-License-Identifier: Apache-2.0
// RunToExitX86: finds where generated code without a fixed frame layout jumps or returns to, by
// simulating the code: from the interrupted registers on, with real memory, along one path through
// its branches. On every path the code pops what it has pushed, so one path is enough; Windows
// unwinds epilogues in the same way.
// Signal-safe: yes. A bounded number of steps; no memory is written.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_

#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {

// CodeRules::run_to_exit for x86_64.
bool RunToExitX86(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                  const StubStart& start, StubExit& exit);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_
