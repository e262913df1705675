// SPDX-License-Identifier: Apache-2.0
// The address of a fault that siginfo does not tell: x86's general protection faults (SI_KERNEL), a
// lost siginfo. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_FAULT_ADDRESS_H_
#define WALKHAMMER_HARNESS_HS_ERR_FAULT_ADDRESS_H_

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// Sets signal.address and signal.address_computed out of the instruction at the pc and the
// registers, if the text does not tell the address and both are there; else tells in `unread` why
// it could not.
void ComputeFaultAddress(CrashReport& report);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_FAULT_ADDRESS_H_
