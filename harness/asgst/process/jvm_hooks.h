// SPDX-License-Identifier: Apache-2.0
// Hooks functions of the running libjvm, so that ours are called instead: see guard/entry_hooks.h.
// Needs the functions' names in libjvm's .symtab. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_JVM_HOOKS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_JVM_HOOKS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/elf/elf_functions.h"
#include "harness/guard/entry_hooks.h"

namespace walkhammer::asgst {

struct JvmHook {
  std::string symbol;
  HookedFunction instead;
  HookedFunction* original;
};

// Hooks all of these functions, for the rest of the process, or none; asgst_hooks() then has
// `mark`. Fails with kUnable as HookEntries does, if a name is missing, or if the environment
// variable ASGST_HOOKS is 0.
Status HookJvm(const std::vector<JvmHook>& hooks, int mark);

// True if hooks are allowed here, and the running libjvm names all of `symbols`. The kernel may
// still forbid the hooks.
bool CanHook(const std::vector<std::string>& symbols);

// Unblocks SIGTRAP on the current thread, if hooks are allowed here: the kernel ends the process
// when a thread that blocks SIGTRAP reaches a hook.
void AllowTraps();

// The functions and variables with these names in the running libjvm, at their addresses in this
// process. Leaves out names that libjvm lacks.
std::vector<ElfFunction> FunctionsOfJvm(const std::vector<std::string>& symbols);
// Their addresses, in this order; empty if one is missing.
std::vector<uint64_t> FindInJvm(const std::vector<std::string>& symbols);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_JVM_HOOKS_H_
