// SPDX-License-Identifier: Apache-2.0
// SafeFetch: the code with which HotSpot reads memory that may be unmapped. A read may fault on
// purpose; HotSpot's handler then resumes at another pc. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_

#include <string>

#include "harness/guard/guard.h"
#include "harness/jvm/live/boot.h"
#include "harness/jvm/structs/safefetch_source.h"

namespace walkhammer {

// Fills options.safefetch with the instructions that may fault, in functions of libjvm or in stubs
// (JDK 17.0.7 and before). Accepts an instruction only if the JVM, queried through
// options.jvm_handler, would resume after a fault there. If none is found, fills options.doubtful
// with all of the JVM's code. Returns the source. The calling thread must be in native.
SafeFetchSource FindSafeFetch(const Jvm& jvm, const std::string& libjvm, GuardOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_
