// SPDX-License-Identifier: Apache-2.0
// SampleFacts from a live JVM: what a handler may ask of methods by their ids, each read contained.
// Signal-safe: IsNativeMethod, TakeClassesAreMissing and the facts yes; FactsOfSamples no.
#ifndef WALKHAMMER_STRESS_JVM_FACTS_H_
#define WALKHAMMER_STRESS_JVM_FACTS_H_

#include "harness/jvm/live/boot.h"
#include "harness/oracles/observation.h"

namespace walkhammer::stress {

// `jvm`: the one of this process, which is never destroyed.
SampleFacts FactsOfSamples(Jvm& jvm);

bool IsNativeMethod(void* method_id);

// True if the registry lacked classes of methods that were asked for since the last call.
bool TakeClassesAreMissing();

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_JVM_FACTS_H_
