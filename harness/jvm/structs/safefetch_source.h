// SPDX-License-Identifier: Apache-2.0
// SafeFetchSource: how the addresses of HotSpot's SafeFetch were found. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_SOURCE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_SOURCE_H_

#include <cstdint>

namespace walkhammer {

enum class SafeFetchSource : uint8_t {
  kNowhere,  // not found: faults in SafeFetch cannot be distinguished from those of a walker
  kSymbols,  // functions of libjvm, found by their names
  kCode,     // functions of libjvm, found by their code: libjvm is stripped
  kStubs,    // generated code, found by the names that JVMTI reports
};

// Returns a word for reports; "nowhere" for values out of range.
constexpr const char* SafeFetchSourceWord(SafeFetchSource source) {
  constexpr const char* kWords[] = {"nowhere", "symbols", "code", "stubs"};
  return source <= SafeFetchSource::kStubs ? kWords[static_cast<int>(source)] : "nowhere";
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_SAFEFETCH_SOURCE_H_
