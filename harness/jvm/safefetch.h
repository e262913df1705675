// SafeFetch: where HotSpot reads memory that may not be there, faults on purpose and resumes
// elsewhere. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_SAFEFETCH_H_
#define WALKHAMMER_HARNESS_JVM_SAFEFETCH_H_

#include <string>

#include "harness/guard/guard.h"
#include "harness/jvm/boot.h"

namespace walkhammer {

// Fills options.safefetch: functions of libjvm (JDK 17.0.4 and later) or stubs (before).
void FindSafeFetch(const Jvm& jvm, const std::string& libjvm, GuardOptions& options);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_SAFEFETCH_H_
