// SPDX-License-Identifier: Apache-2.0
// RequestOfSample: a sample that a signal took in a running JVM, as a request that replays in
// another process. From shared memory alone: the JVM may be dead. Signal-safe: no.
//
// The request is walked in the scene `sampled`, whose room takes the sampled part of the stack:
// what lay at the sample's sp comes to stack+kSampledSp, and each word gets an edit, except zeros,
// which the room is full of. Addresses become symbols:
//   of the sampled stack    stack+OFFSET with the same distance from sp; where the room ends, the
//                           distance from the nearer bound of the stack
//   generated code          by name; numbered like Landscape does it, by address over what lives
//   the JavaThread, modules, Method*, byte codes     by name
//   other metadata          metaspace+OFFSET: class metadata, though not the same
//   the heap, other memory  zero-page+OFFSET. Where an object lies differs from run to run, so no
//                           symbol names it; walkers do not look into objects. Zeros are readable
//                           as it was, and the same each time; equal words stay equal.
//   what nothing is mapped at, what may not be read  unmapped, no-access
// Everything else, as small numbers, stays as it is.
#ifndef WALKHAMMER_HARNESS_FINDINGS_SNAPSHOT_H_
#define WALKHAMMER_HARNESS_FINDINGS_SNAPSHOT_H_

#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"
#include "harness/shared/stress_state.h"

namespace walkhammer {

// Names go to `symbols`. Walker and state are the sample's, the depth is the job's.
WalkRequest RequestOfSample(const Sample& sample, const StressState& state, SymbolTable& symbols);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_SNAPSHOT_H_
