// SPDX-License-Identifier: Apache-2.0
#include "harness/base/ticks.h"

#include <atomic>

#include "harness/base/clock.h"

namespace walkhammer {
namespace {

constexpr uint64_t kLongEnoughNs = 20000000;  // to compare two clocks

const uint64_t ns_at_start = MonotonicNs();
const uint64_t ticks_at_start = ReadTicks();

double NsPerTick() {
  static std::atomic<double> known{0};
  double ns_per_tick = known.load(std::memory_order_relaxed);
  if (ns_per_tick != 0) return ns_per_tick;
  const uint64_t ns = MonotonicNs() - ns_at_start;
  ns_per_tick = static_cast<double>(ns) / static_cast<double>(ReadTicks() - ticks_at_start);
  if (ns >= kLongEnoughNs) known.store(ns_per_tick, std::memory_order_relaxed);
  return ns_per_tick;
}

}  // namespace

uint64_t NsBetween(uint64_t begun, uint64_t ended) {
  if (ended < begun) return 0;
  return static_cast<uint64_t>(static_cast<double>(ended - begun) * NsPerTick());
}

}  // namespace walkhammer
