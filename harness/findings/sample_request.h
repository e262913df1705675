// SPDX-License-Identifier: Apache-2.0
// RequestOfSample: turns a sample that a signal took in a running JVM into a request that replays
// in another process. Reads shared memory only: the JVM may be dead. Signal-safe: no.
//
// The request is for the scene `sampled`, whose stack has room for the sampled words: the word at
// sp + i of the sample becomes an edit of stack+kSampledSp + i. Zeros need no edit, because the
// room is full of zeros. Addresses become symbols:
//   the sampled stack       stack+OFFSET at the same distance from sp; outside of the room, the
//                           distance from the nearer bound of the stack
//   generated code          by name; equal names are numbered like in AddressMap, by address, over
//                           the code that still exists
//   the JavaThread, modules, Method*, bytecodes     by name
//   other metadata          metaspace+OFFSET: other class metadata
//   the heap, other memory  zero-page+OFFSET. An object's place differs from run to run, so no
//                           symbol names it; walkers do not look into objects. The zero page is
//                           readable, as the memory was, and always the same; equal words stay
//                           equal.
//   unmapped, unreadable    unmapped+OFFSET, no-access+OFFSET
// All other words, such as small numbers, stay as they are.
#ifndef WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_H_
#define WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_H_

#include <span>

#include "harness/ipc/stress_state.h"
#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// Interns names into `symbols`. Walker and thread state are the sample's, the depth is state.job's.
WalkRequest RequestOfSample(const Sample& sample, const StressState& state, SymbolTable& symbols);

// Words of a stack from the address `begin` on.
struct StackWords {
  std::span<const uint64_t> words;
  uint64_t begin;
};

// The same for any number of stack words in place of those in `sample`. `origin`: the address that
// becomes stack+kSampledSp; 0: addresses on the stack are given by their distance from its nearer
// bound, and there are no words. If there are more words than a request has edits, those that
// walkers follow are kept.
WalkRequest RequestOfWords(const Sample& sample, const StackWords& words, uint64_t origin,
                           const StressState& state, SymbolTable& symbols);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_H_
