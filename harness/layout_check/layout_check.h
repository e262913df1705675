// SPDX-License-Identifier: Apache-2.0
// LayoutCheck: each fact of HotSpot's layout that walkhammer looks up in vmStructs, and whether the
// running JVM confirms the fact. The proofs compare memory with what JNI and JVMTI report about the
// calling thread, methods of java.lang.String, stubs, the interpreter and compiled code. A builder
// of JDKs sees a layout drift before anything crashes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_LAYOUT_CHECK_LAYOUT_CHECK_H_
#define WALKHAMMER_HARNESS_LAYOUT_CHECK_LAYOUT_CHECK_H_

#include <string>
#include <vector>

#include "harness/jvm/live/boot.h"
#include "harness/layout_check/proof.h"

namespace walkhammer {

struct LayoutFact {
  std::string name;  // "JavaThread::_anchor"; "sizeof(ConstMethod)"
  bool present;      // this build's vmStructs have the field or size
  Proof proof = Proof::kNone;
};

// Checks `structs`, which are those of `jvm` (tests pass wrong ones). Returns all facts that were
// ever looked up in `structs`, sorted by name. The calling thread must be attached and in native.
// Memory is read through the kernel, so a wrong layout does no harm, except where CodeCache,
// ReadCodeLayout and IntFlag read memory themselves.
std::vector<LayoutFact> ProveLayout(Jvm& jvm, const VmStructs& structs);

// Marks the anchor's fields as proven: a scene was found and walked through its thread's anchor.
void MarkAnchorProven(std::vector<LayoutFact>& facts);

// Ok, or kUnable with the names of the facts that the JVM contradicts.
Status CheckLayout(const std::vector<LayoutFact>& facts);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_LAYOUT_CHECK_LAYOUT_CHECK_H_
