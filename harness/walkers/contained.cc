// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/contained.h"

#include <cstring>

#include "harness/guard/guard.h"

namespace walkhammer {

Status Contained(void (*body)(void*), void* argument) {
  if (!GuardInPlace()) {
    body(argument);
    return Ok();
  }
  static GuardSlot slot;
  EnterGuardedThread(slot);
  const Ending ending = GuardedCall(slot, body, argument);
  LeaveGuardedThread();
  if (ending == Ending::kReturned) return Ok();
  if (ending == Ending::kHung) return Unable("its first call did not come back");
  return Unable(std::string("its first call crashed: ") + strsignal(slot.fault.signal));
}

}  // namespace walkhammer
