// SPDX-License-Identifier: Apache-2.0
// Expectations: what a scene claims about its parked stack ("this activation is compiled by C2"),
// and the proof, read from the stack and the code cache. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SCENES_EXPECTATION_H_
#define WALKHAMMER_HARNESS_SCENES_EXPECTATION_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "harness/jvm/structs/code_cache.h"

namespace walkhammer {

struct Expectation {
  // "interpreted", "c1", "c2", "c2-inlined", "osr", "deopt", "invalidated"; "frozen" is proved
  // apart, in scenes.cc
  std::string kind;
  std::string method;  // "pkg.Class.method(Sig)Ret", for messages
  uint64_t address;    // Method*, 0 if unknown
};

// Returns "" if the words of a stack meet every expectation; else one sentence with the first that
// is not met. Proof of a compiled activation is a return address into the method's nmethod.
std::string Unmet(std::span<const Expectation> expectations, std::span<const uint64_t> stack,
                  const std::vector<CodeBlob>& blobs);

// Returns KindOfFrame of the activations of `method`, a Method*, as the expectations claim it; 0 if
// they claim nothing or different kinds. The expectations must hold: see Unmet.
int32_t ExpectedKind(std::span<const Expectation> expectations, uint64_t method,
                     std::span<const uint64_t> stack, const std::vector<CodeBlob>& blobs);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_EXPECTATION_H_
