// SPDX-License-Identifier: Apache-2.0
// Traps at the entries of functions become jumps. A near jump has five bytes, and a thread may be
// at any of the first instructions of the function. So only the first byte changes, and the next
// four bytes, which stay, are the displacement of the jump. It leads up to 2 GiB away from libjvm,
// where this code maps memory with a jump to the hook. A thread that is past the first byte goes on
// as before. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_
#define WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_

#include <span>

#include "harness/guard/entry_hooks.h"

namespace walkhammer {

// The function of each hook must begin with a trap, and be writable. It stays a trap if the memory
// at the target of the jump is in use, or if the kernel cannot synchronise code on all processors.
void MakeTrapsJumps(std::span<const EntryHook> hooks);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_
