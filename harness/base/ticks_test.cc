// SPDX-License-Identifier: Apache-2.0
#include "harness/base/ticks.h"

#include <gtest/gtest.h>
#include <time.h>

#include "harness/base/clock.h"

namespace walkhammer {
namespace {

TEST(Ticks, TimesAreThoseOfTheSystemsClock) {
  for (const long ms : {30L, 1L}) {
    const timespec pause{0, ms * 1000000};
    const uint64_t before = MonotonicNs(), begun = ReadTicks(), after = MonotonicNs();
    nanosleep(&pause, nullptr);
    const uint64_t later = MonotonicNs(), ended = ReadTicks(), last = MonotonicNs();
    const uint64_t ns = NsBetween(begun, ended);
    EXPECT_GE(static_cast<double>(ns), static_cast<double>(later - after) * 0.98) << ms;
    EXPECT_LE(static_cast<double>(ns), static_cast<double>(last - before) * 1.02) << ms;
  }
}

TEST(Ticks, TimeDoesNotRunBackwards) { EXPECT_EQ(NsBetween(1000, 999), 0U); }

}  // namespace
}  // namespace walkhammer
