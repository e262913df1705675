// SPDX-License-Identifier: Apache-2.0
// agct: HotSpot's AsyncGetCallTrace, which libjvm exports and no header declares.
// Puzzles drive the same adapter with planted bugs.
#ifndef WALKHAMMER_HARNESS_WALKERS_AGCT_H_
#define WALKHAMMER_HARNESS_WALKERS_AGCT_H_

#include <jni.h>

#include <memory>
#include <span>

#include "harness/request/walker_table.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

// The API's structures, as its public descriptions define them (JDK 5 to 25).
struct AgctFrame {
  jint lineno;  // holds the bci; kAgctNativeBci marks a native method
  jmethodID method_id;
};

struct AgctTrace {
  JNIEnv* env_id;
  jint num_frames;
  AgctFrame* frames;
};

using AgctFunction = void (*)(AgctTrace* trace, jint depth, void* context);

inline constexpr int32_t kAgctNativeBci = -3;

// A walker that calls `function`, or AsyncGetCallTrace if that is null. Bind looks up
// AsyncGetCallTrace in any case, and stores its address in *real if `real` is not null.
std::unique_ptr<Walker> MakeAgctWalker(AgctFunction function, AgctFunction* real);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_AGCT_H_
