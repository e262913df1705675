// SPDX-License-Identifier: Apache-2.0
// Proof: what the running JVM says to a fact of its layout; see layout_proof.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_PROOF_PROOF_H_
#define WALKHAMMER_HARNESS_PROOF_PROOF_H_

#include <cstdint>

namespace walkhammer {

enum class Proof : uint8_t {
  kNone,          // nothing that was looked at here depends on it
  kProven,        // the JVM says the same
  kContradicted,  // the JVM says something else
  kCount,
};

inline const char* ProofWord(Proof proof) {
  constexpr const char* kWords[] = {"not proven", "proven", "contradicted"};
  return proof < Proof::kCount ? kWords[static_cast<int>(proof)] : "unknown";
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROOF_PROOF_H_
