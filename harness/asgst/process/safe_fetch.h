// SPDX-License-Identifier: Apache-2.0
// SafeFetch for libasgst: HotSpot's function `SafeFetchN(address, otherwise)`, which returns the
// word at `address` or, if that cannot be read, `otherwise`. Signal-safe: no; but the function is.
#ifndef WALKHAMMER_HARNESS_ASGST_PROCESS_SAFE_FETCH_H_
#define WALKHAMMER_HARNESS_ASGST_PROCESS_SAFE_FETCH_H_

#include <dlfcn.h>
#include <jni.h>

#include <cstdint>

namespace walkhammer::asgst {

struct SafeFetch {
  uint64_t address = 0;  // of the function; 0: not found
  // Only on threads of the JVM that run Java: HotSpot's signal handler of JDK 15 and before asks
  // for the JavaThread before it asks whether the fault is SafeFetch's (JVM_handle_linux_signal;
  // JDK-8252324 changed the order).
  bool on_java_threads_alone = false;
};

// Finds SafeFetchN of the JVM `vm`, whose libjvm is mapped as `libjvm` says: by its symbol; by its
// code; as a stub (JDK 17.0.7 and before). `feature`: JDK version. Call in the live phase of the
// JVM.
SafeFetch FindSafeFetch(JavaVM* vm, const Dl_info& libjvm, int feature);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_PROCESS_SAFE_FETCH_H_
