// SPDX-License-Identifier: Apache-2.0
// Hashes of answers. A step whose answer was clean a step ago is not judged again, so whatever an
// oracle judges must be in the hash. Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_ANSWER_HASH_H_
#define WALKHAMMER_STRESS_ANSWER_HASH_H_

#include <cstdint>

#include "harness/base/trace.h"
#include "harness/oracles/observation.h"

namespace walkhammer::stress {

// Hash of a trace that was returned and does not go beyond its buffer; never 0.
uint64_t HashOfFrames(const Trace& trace);

// Hash of all that oracles judge in a light walk. 0: something is amiss that no hash covers, or
// oracles judge more than the frames: a shadow stack, another walker's answer, names.
uint64_t HashOfAnswer(const Observation& seen);

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_ANSWER_HASH_H_
