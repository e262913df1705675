// SPDX-License-Identifier: Apache-2.0
// LayoutProof: each fact of HotSpot's layout that walkhammer asks vmStructs for, and whether the
// running JVM says the same of itself: through JNI and JVMTI, of its own thread, methods of
// java.lang.String, its stubs, its interpreter and what it has compiled. A builder of JDKs sees a
// layout drift before anything crashes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROOF_LAYOUT_PROOF_H_
#define WALKHAMMER_HARNESS_PROOF_LAYOUT_PROOF_H_

#include <string>
#include <vector>

#include "harness/jvm/live/boot.h"
#include "harness/proof/proof.h"

namespace walkhammer {

struct LayoutFact {
  std::string name;  // "JavaThread::_anchor"; "sizeof(ConstMethod)"
  bool present;      // this build's vmStructs have it
  Proof proof = Proof::kNone;
};

// Looks at `structs`, which are those of `jvm` (tests hand over wrong ones). The calling thread
// must be attached and in native. Memory is read through the kernel, so a wrong layout does no harm
// beyond CodeCache's and CodeFinder's own reading. All facts that `structs` was ever asked for,
// sorted by name.
std::vector<LayoutFact> ProveLayout(Jvm& jvm, const VmStructs& structs);

// A scene was found and walked through its thread's anchor: what that proves.
void MarkAnchorProven(std::vector<LayoutFact>& facts);

// Ok, or kUnable with the names of what the JVM contradicts.
Status CheckLayout(const std::vector<LayoutFact>& facts);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROOF_LAYOUT_PROOF_H_
