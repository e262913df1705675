// SPDX-License-Identifier: Apache-2.0
// Synthetic nights for tests: a group each, a stress run of agct. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_NIGHT_TESTING_H_
#define WALKHAMMER_REPORTS_NIGHT_TESTING_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "reports/gate_testing.h"
#include "reports/night_folder.h"

namespace walkhammer {

inline constexpr char kNightGroup[] = "stress.jdk.agct";
inline constexpr char kNightWalk[] = "walk 1\nwalker agct\nscene c2\nstate in_Java\npc 0x5\n";

// A night. The run's version and libjvm are those of the build "old" or "new".
struct MadeNight {
  bool is_new = false;
  std::vector<MadeBucket> buckets = {};
  double failing = 0.01;
  double walks = 20000;   // a period
  bool has_walks = true;  // the buckets have requests
};

// A bucket that no replay showed; one that five of five showed.
inline MadeBucket Unconfirmed(const std::string& title) {
  return {.title = title, .every = 60, .confirmed = 0, .tries = 5};
}
inline MadeBucket Confirmed(const std::string& title) {
  return {.title = title, .every = 60, .confirmed = 5, .tries = 5};
}

class MadeNights : public testing::Test {
 protected:
  // Writes the next night and returns its folder. Nights begin a day after each other.
  std::string Add(const MadeNight& made) {
    const std::string dir = temp_.Under(fmt::format("nights/n{}", ++nights_));
    const std::string run = fmt::format("{}/merged/{}", dir, kNightGroup);
    MadeRun{.version = made.is_new ? "17.0.10+7" : "17.0.9+9",
            .walks = made.walks,
            .failing = made.failing,
            .buckets = made.buckets,
            .seed = nights_}
        .Write(run);
    ExecSql(run, fmt::format("UPDATE run SET started_at = '2026-01-{:02}T00:00:00Z', "
                             "libjvm_build_id = '{}'",
                             nights_, made.is_new ? "bb" : "aa"));
    ExecSql(run,
            fmt::format("UPDATE finding SET request = '{}'", made.has_walks ? kNightWalk : ""));
    return dir;
  }
  static void SetGreen(const std::string& dir) { std::ofstream(dir + "/" + kGreenName) << ""; }

  TemporaryFolder temp_;
  uint64_t nights_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_NIGHT_TESTING_H_
