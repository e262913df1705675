// SPDX-License-Identifier: Apache-2.0
// What the functions of profile_late.h need of asgst.h. A source file can include only one of these
// two headers, because they declare the same names with other types. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_API_STACK_TRACE_H_
#define WALKHAMMER_HARNESS_ASGST_API_STACK_TRACE_H_

#include <jni.h>

#include <cstdint>

namespace walkhammer::asgst {

// Walks the current thread as AsyncGetStackTrace of asgst.h does. `frames`: array of the caller, of
// `depth` ASGST_CallFrame. Returns their number, or a code of 0 or below.
jint WalkCurrentThread(void* frames, jint depth, void* ucontext, uint32_t options);
// True if the current thread is a Java thread that has not run Java code yet.
bool IsNewThread();
// True if the current thread is a Java thread of the JVM.
bool IsJavaThread();

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_API_STACK_TRACE_H_
