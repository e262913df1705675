// SPDX-License-Identifier: Apache-2.0
// SafeFetch: where HotSpot reads memory that may not be there, faults on purpose and resumes
// elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_

#include <string>

#include "harness/guard/guard.h"
#include "harness/jvm/live/boot.h"
#include "harness/jvm/structs/safefetch_source.h"

namespace walkhammer {

// Fills options.safefetch with the instructions that fault: of functions of libjvm, or of stubs
// (JDK 17.0.7 and before). What is found counts only if the JVM, asked through
// options.jvm_handler, would resume there. Where nothing is, fills options.doubtful with all of
// the JVM's code. The calling thread must be in native.
SafeFetchSource FindSafeFetch(const Jvm& jvm, const std::string& libjvm, GuardOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_SAFEFETCH_H_
