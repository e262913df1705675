// SPDX-License-Identifier: Apache-2.0
// The ASGST iterator of provider jdk, which all walkers of that provider begin with.
// Signal-safe: IdOf, CodeOf yes; OpenJdkIterator no.
#ifndef WALKHAMMER_HARNESS_WALKERS_JDK_ITERATOR_H_
#define WALKHAMMER_HARNESS_WALKERS_JDK_ITERATOR_H_

#include <string>

#include "harness/base/result.h"
#include "harness/walkers/iterator_drift.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

struct JdkIterator {
  std::string prefix;  // of all of the API's functions
  IteratorApi api;     // id_of: null if frames hold jmethodIDs
  IteratorDrift drift;

  // The jmethodID of a frame's method.
  void* IdOf(ASGST_Method method) const {
    return api.id_of == nullptr ? static_cast<void*>(method) : api.id_of(method);
  }
  // An answer in the newer numbering.
  int CodeOf(int answer) const { return drift.older_errors ? NewerIteratorError(answer) : answer; }
};

// Finds the iterator's functions in the library, and how the build differs from the proposal: for
// each function that runs iterators, it is probed once. kUnable: the library lacks a function, or
// its iterator does not work.
Result<JdkIterator> OpenJdkIterator(const ProviderLibrary& library, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_JDK_ITERATOR_H_
