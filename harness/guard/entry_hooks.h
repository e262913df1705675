// SPDX-License-Identifier: Apache-2.0
// Has functions of ours called instead of functions of another library. The first byte of each such
// function becomes a trap, and the trap's handler only sends the thread on to ours. Where it can
// be, the trap then becomes a jump (entry_jumps.h), which takes a nanosecond and no signal. So a
// hook runs as if it had been called, outside of a signal handler, on any number of threads at a
// time. Where it stays a trap, a thread that blocks SIGTRAP must not call such a function: the
// kernel would end the process. Nor may a SIGTRAP be sent to a thread that may call one: pending in
// that instant, it takes the place of the trap (the kernel keeps one of each signal), and the
// thread goes on in the middle of the function's begin. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_ENTRY_HOOKS_H_
#define WALKHAMMER_HARNESS_GUARD_ENTRY_HOOKS_H_

#include <cstdint>
#include <span>

#include "harness/base/result.h"

namespace walkhammer {

// A function with two arguments at most, integers or pointers, and without a result.
using HookedFunction = void (*)(uint64_t first, uint64_t second);

struct EntryHook {
  uint64_t entry;            // where the function begins
  HookedFunction instead;    // is called instead,
  HookedFunction* original;  // and calls the function by this, which HookEntries sets
};

// Hooks all of these functions, for the rest of the process, or none. Fails with kUnable on other
// architectures than x86_64, if a function begins with an instruction that cannot be moved, if the
// kernel lets no code be changed, if the current thread blocks SIGTRAP, if another handler for
// SIGTRAP was installed after the first hooks, or after kMostEntryHooks.
inline constexpr int kMostEntryHooks = 8;
Status HookEntries(std::span<const EntryHook> hooks);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ENTRY_HOOKS_H_
