// SPDX-License-Identifier: Apache-2.0
// Whether interpose.cc is in force in this process. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GUARD_INTERPOSITION_H_
#define WALKHAMMER_HARNESS_GUARD_INTERPOSITION_H_

#include <string>

namespace walkhammer {

// Calls functions that interpose.cc wraps, as a library of this process would, inside a guarded
// call. Returns the reason why one of the calls was not recorded; empty: all were. The calling
// thread must be in no guarded call, and InstallGuard must have succeeded.
std::string WhatIsNotInterposed();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_INTERPOSITION_H_
