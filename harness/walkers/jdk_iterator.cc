// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/jdk_iterator.h"

namespace walkhammer {
namespace {

constexpr const char* kPrefixes[] = {"ASGST_", "JFRLL_"};

// Probes a function only once: the agent has many walkers.
Result<IteratorDrift> DriftOf(const IteratorApi& api, JavaVM* vm) {
  static decltype(api.run) probed = nullptr;
  static IteratorDrift drift;
  if (probed == api.run) return drift;
  ASSIGN_OR_RETURN(auto found, FindIteratorDrift(api, vm));
  probed = api.run;
  drift = found;
  return drift;
}

}  // namespace

Result<JdkIterator> OpenJdkIterator(const ProviderLibrary& library, JavaVM* vm) {
  JdkIterator found;
  IteratorApi& api = found.api;
  for (const char* one : kPrefixes)
    if (api.run == nullptr) {
      found.prefix = one;
      library.Find(found.prefix + "RunWithIterator", api.run);
    }
  if (api.run == nullptr) return library.Lacks("ASGST_RunWithIterator or JFRLL_RunWithIterator");
  library.Find(found.prefix + "RunWithIteratorFromFrame", api.run_from_frame);
  library.Find(found.prefix + "NextFrame", api.next);
  library.Find(found.prefix + "MethodToJMethodID", api.id_of);
  if (api.next == nullptr) return library.Lacks(found.prefix + "NextFrame");
  ASSIGN_OR_RETURN(found.drift, DriftOf(api, vm));
  if (found.drift.method_is_id) api.id_of = nullptr;
  return found;
}

}  // namespace walkhammer
