// SPDX-License-Identifier: Apache-2.0
// Proof: whether the running JVM confirms a fact of its layout; see layout_check.h.
// Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_LAYOUT_CHECK_PROOF_H_
#define WALKHAMMER_HARNESS_LAYOUT_CHECK_PROOF_H_

#include <cstdint>

namespace walkhammer {

enum class Proof : uint8_t {
  kNone,          // no check confirms or contradicts the fact
  kProven,        // the JVM confirms the fact
  kContradicted,  // the JVM contradicts the fact
  kCount,
};

inline const char* ProofWord(Proof proof) {
  constexpr const char* kWords[] = {"not proven", "proven", "contradicted"};
  return proof < Proof::kCount ? kWords[static_cast<int>(proof)] : "unknown";
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_LAYOUT_CHECK_PROOF_H_
