// SPDX-License-Identifier: Apache-2.0
// What a sample records of its thread, and whether a walker has written into the recorded stack.
// Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_SAMPLE_RECORD_H_
#define WALKHAMMER_STRESS_SAMPLE_RECORD_H_

#include <ucontext.h>

#include "harness/ipc/stress_state.h"
#include "harness/oracles/observation.h"
#include "stress/sampled_threads.h"

namespace walkhammer::stress {

// Records `thread`, interrupted at `context`: registers, thread state, anchor and the newest words
// of its stack. `light`: few words, and no time. `running`: no words, as the thread runs on.
void TakeDown(const SampledThread& thread, const ucontext_t& context, bool light, bool running,
              Sample& sample);

// Finds the lowest word that the walker has changed. Changed words are put back, so that the
// program survives to show more; but not words that were zero, which the walker may rightly have
// filled in.
// Only words up to the newest call of Java from native code are compared: older frames of the JVM
// hold words that others write to, such as the next of several thread dumps. `call_stub_return`:
// where that call returns to; 0: not known, and all words are compared.
StackWrite CompareStack(const Sample& sample, uint64_t call_stub_return);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SAMPLE_RECORD_H_
