// SPDX-License-Identifier: Apache-2.0
// How generated code that keeps no rule about its frame gives control away, found by running it in
// thought: from the interrupted registers on, with real memory, one way through its branches. On
// any way the code takes off the stack what it has put there, so one is enough; Windows unwinds
// epilogues so.
// Signal-safe: yes. A bounded number of steps; nothing is written.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_

#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {

// See CodeRules::run_to_exit.
bool RunToExitX86(const MemoryReader& code, const MemoryReader& memory, const FoundCode& found,
                  const StubStart& start, StubExit& exit);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_STUB_EXIT_X86_64_H_
