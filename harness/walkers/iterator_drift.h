// SPDX-License-Identifier: Apache-2.0
// How builds of the ASGST iterator differ from its proposal (asgst_iterator.h), and the probe that
// finds the differences. Signal-safe: NewerIteratorError yes; the probe no.
#ifndef WALKHAMMER_HARNESS_WALKERS_ITERATOR_DRIFT_H_
#define WALKHAMMER_HARNESS_WALKERS_ITERATOR_DRIFT_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/walkers/from_java.h"

namespace walkhammer {

struct IteratorApi {
  decltype(&ASGST_RunWithIterator) run = nullptr;
  decltype(&ASGST_RunWithIteratorFromFrame) run_from_frame = nullptr;
  decltype(&ASGST_NextFrame) next = nullptr;
  decltype(&ASGST_MethodToJMethodID) id_of = nullptr;  // null: the build has none
};

struct IteratorDrift {
  bool method_is_id = false;  // ASGST_Frame.method is a jmethodID
  bool older_errors = false;  // see NewerIteratorError
};

// Converts an answer of the older numbering: there, -4 is NO_CLASS_LOAD, which the newer numbering
// lacks, -5 is NO_TOP_JAVA_FRAME, -6 and -7 are of the queue. Other answers stay as they are.
int NewerIteratorError(int older);
inline constexpr int kOlderNoClassLoad = -16;  // our number for NO_CLASS_LOAD

// True if frames hold jmethodIDs, false if methods. Walks the current thread, whose newest frames
// are `known`, as `context`, a ucontext_t, shows it. kUnable, with what was seen: the walk fails,
// no frame holds a known method in either way, or a frame is not as the proposal has it.
Result<bool> ProbeIteratorMethods(const IteratorApi& api, const KnownFrames& known, void* context);

// Finds all differences. To be called on a thread that is attached to `vm` and has no Java frame:
// the iterator's answer there shows its numbering, -5 the older, any other the newer.
Result<IteratorDrift> FindIteratorDrift(const IteratorApi& api, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATOR_DRIFT_H_
