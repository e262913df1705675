// SPDX-License-Identifier: Apache-2.0
// The mutations that Mutator chooses from, one row each. A new mutation is a function and a row.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_
#define WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_

#include <span>

#include "harness/generate/request_builder.h"

namespace walkhammer {

struct Mutation {
  const char* name;
  uint32_t weight;
  // Returns false if the mutation does not apply; it must leave the request unchanged then.
  bool (*apply)(RequestBuilder& builder);
};

std::span<const Mutation> AllMutations();

// The mutations of bad_frames.cc: they show a walker frames that no code pushed. Most write words
// onto the stack that a walker takes for frames, and make the walk reach them.
bool RedirectLink(RequestBuilder& builder);
bool EnterAtFrame(RequestBuilder& builder);
bool SpliceFrame(RequestBuilder& builder);
bool ForgeChain(RequestBuilder& builder);
bool ForgeInterpreted(RequestBuilder& builder);
bool ForgeMethod(RequestBuilder& builder);
bool ForgeCompiled(RequestBuilder& builder);
bool ForgeDeoptimized(RequestBuilder& builder);
bool ForgeEntry(RequestBuilder& builder);
bool ForgeAnchor(RequestBuilder& builder);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_MUTATIONS_H_
