// SPDX-License-Identifier: Apache-2.0
// Traps at the begins of functions become jumps. A near jump has five bytes, and a thread may stand
// behind any instruction that the function begins with. So only the first byte changes: the jump
// leads as far as the next four bytes happen to say, some gigabyte behind libjvm. The memory there
// is taken, and holds a jump to the hook. Whoever stands behind the first byte goes on as before.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_
#define WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_

#include <span>

#include "harness/guard/entry_hooks.h"

namespace walkhammer {

// Each hook's function begins with a trap, and is writable. It stays a trap if the memory that the
// jump leads to is in use, or if the kernel cannot have all processors see new code.
void MakeTrapsJumps(std::span<const EntryHook> hooks);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ENTRY_JUMPS_H_
