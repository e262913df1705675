// SPDX-License-Identifier: Apache-2.0
// Where the JVM of this process keeps the frames of virtual threads in the heap: ChunkLayout.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_STACK_CHUNKS_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_STACK_CHUNKS_H_

#include <jni.h>

#include "harness/asgst/walk/layout.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Fills in `layout.chunks` but for `safepoints_at`, where no collector moves objects under a
// running thread: Serial, Parallel and G1, JDK 21 and later. Otherwise leaves it as it is.
void FindStackChunks(JNIEnv* env, const VmStructs& structs, WalkLayout& layout);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_STACK_CHUNKS_H_
