// SPDX-License-Identifier: Apache-2.0
// The handlers of ASGST_RegisterClassUnloadHandler. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_UNLOAD_HANDLERS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_UNLOAD_HANDLERS_H_

#include <jni.h>

#include "harness/asgst/include/asgst_iterator.h"

namespace walkhammer::asgst {

void AddUnloadHandler(JavaVM* vm, ASGST_ClassUnloadHandler handler, void* argument);
// Removes one registration of `handler` with `argument`, and waits until no handler is running.
// False if there is no such registration, or from within a handler.
bool RemoveUnloadHandler(ASGST_ClassUnloadHandler handler, void* argument);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_UNLOAD_HANDLERS_H_
