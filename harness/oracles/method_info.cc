// SPDX-License-Identifier: Apache-2.0
// What an API says of a method agrees with JVMTI and with itself.
// Signal-safe: yes.
#include <cstdio>
#include <cstring>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kMethodInfoOutcomes[] = {
    {"right", Grade::kAcceptable, "names are those of JVMTI, or were not requested"},
    {"wrong-name", Grade::kForbidden, "a profiler would show another method than the one that ran"},
    {"contradiction", Grade::kForbidden, "two answers to the same question cannot both be true"},
};

// Known names have a '.' for each '/', and for the '+' of hidden classes.
char Plain(char c) { return c == '/' || c == '+' ? '.' : c; }

// `said` may be truncated.
bool IsName(const char* said, const char* known) {
  size_t i = 0;
  while (said[i] != '\0' && Plain(said[i]) == Plain(known[i])) i++;
  return said[i] == '\0' && (known[i] == '\0' || i == sizeof DescribedFrame::text - 1);
}

uint8_t JudgeMethodInfo(const Observation& seen, char* detail, size_t size) {
  const Trace& trace = seen.trace;
  if (trace.ending != Ending::kReturned) return 0;
  if (trace.complaint != nullptr) {
    std::snprintf(detail, size, "%s", trace.complaint);
    return 2;
  }
  if (trace.num_frames > seen.request->depth) return 0;  // left to the oracle frame-count
  for (int i = 0; i < trace.described_count && i < trace.num_frames; i++) {
    const MethodEntry* entry = seen.methods->Find(trace.frames[i].method);
    // The registry keeps names without the addresses in them, so these cannot be compared.
    if (entry == nullptr || entry->unloaded.load(std::memory_order_relaxed) ||
        std::strstr(entry->name, "0x") != nullptr || IsName(trace.described[i].text, entry->name))
      continue;
    std::snprintf(detail, size, "frame %d is said to be %.100s, and is %s", i,
                  trace.described[i].text, entry->name);
    return 1;
  }
  return 0;
}

}  // namespace

const Oracle kMethodInfoOracle = {"method-info", "what is said of a method is what JVMTI said",
                                  kMethodInfoOutcomes, JudgeMethodInfo, kSaysMore};

}  // namespace walkhammer
