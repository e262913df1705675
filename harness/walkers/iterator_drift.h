// SPDX-License-Identifier: Apache-2.0
// How builds of the ASGST iterator differ from its proposal (asgst_iterator.h), and the probe that
// tells. Signal-safe: NewerIteratorError yes; the probe no.
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

// In the older numbering -4 is NO_CLASS_LOAD, which the newer one lost, -5 NO_TOP_JAVA_FRAME, -6
// and -7 are of the queue.
int NewerIteratorError(int older);
inline constexpr int kOlderNoClassLoad = -16;  // our number for it

// Whether frames hold methods or jmethodIDs: the frames of the current thread, of which `known` are
// the newest, tell. kUnable with what was seen where they are neither, or no such frame comes.
Result<bool> ProbeIteratorMethods(const IteratorApi& api, const KnownFrames& known, void* context);

// All of it. To be called on a thread that is attached to `vm` and has no Java frame: what it
// answers there shows its numbering; an answer that fits neither counts as the newer one.
Result<IteratorDrift> FindIteratorDrift(const IteratorApi& api, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_ITERATOR_DRIFT_H_
