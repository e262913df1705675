// SPDX-License-Identifier: Apache-2.0
// A walker only reads the stack that it walks: the thread goes on with that stack afterwards.
// Signal-safe: yes.
#include <cstdio>

#include "harness/oracles/observation.h"
#include "harness/oracles/rows.h"

namespace walkhammer {
namespace {

constexpr OutcomeInfo kStackKeptOutcomes[] = {
    {"kept", Grade::kAcceptable, "the checked part of the stack is as before"},
    {"overwritten", Grade::kForbidden, "the walked thread would go on with a changed stack"},
    {"filled-in", Grade::kInteresting,
     "a zero word became a pc: make_walkable, on what the walker took for an anchor"},
};

uint8_t JudgeStackKept(const Observation& seen, char* detail, size_t size) {
  const StackWrite& write = seen.stack_write;
  if (seen.trace.ending != Ending::kReturned || !write.found) return 0;
  std::snprintf(detail, size, "the word at stack+0x%x was 0x%llx and became 0x%llx", write.offset,
                static_cast<unsigned long long>(write.before),
                static_cast<unsigned long long>(write.after));
  return write.before == 0 ? 2 : 1;
}

}  // namespace

const Oracle kStackKeptOracle = {"stack-kept", "the walked stack is unchanged", kStackKeptOutcomes,
                                 JudgeStackKept, kOverwrote};

}  // namespace walkhammer
