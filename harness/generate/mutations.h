// SPDX-License-Identifier: Apache-2.0
// The mutations that Mutator chooses from, one row each. A new mutation is a function and a row.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_
#define WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_

#include <span>

#include "harness/generate/draft.h"

namespace walkhammer {

struct Mutation {
  const char* name;
  uint32_t weight;
  // Returns false if the mutation does not apply; it must leave the request unchanged then.
  bool (*apply)(Draft& draft);
};

std::span<const Mutation> AllMutations();

// The mutations of forgeries.cc: they show a walker frames that no code pushed. Most write words
// onto the stack that a walker takes for frames, and make the walk reach them.
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
