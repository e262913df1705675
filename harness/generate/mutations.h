// SPDX-License-Identifier: Apache-2.0
// The mutations that Mutator chooses from, one row each. A new one is one function and one row.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_
#define WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_

#include <span>

#include "harness/generate/draft.h"

namespace walkhammer {

struct Mutation {
  const char* name;
  uint32_t weight;
  // False where it does not apply; the request is as before then.
  bool (*apply)(Draft& draft);
};

std::span<const Mutation> AllMutations();

// Frames that were never pushed: in forgeries.cc. Each lays words on the stack so that a walker
// takes them for frames, and leads it there.
bool RedirectLink(Draft& draft);
bool EnterAtFrame(Draft& draft);
bool SpliceFrame(Draft& draft);
bool ForgeChain(Draft& draft);
bool ForgeInterpreted(Draft& draft);
bool ForgeMethod(Draft& draft);
bool ForgeCompiled(Draft& draft);
bool ForgeDeoptimized(Draft& draft);
bool ForgeEntry(Draft& draft);
bool ForgeAnchor(Draft& draft);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_
