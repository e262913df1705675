// SPDX-License-Identifier: Apache-2.0
// Synthetic runs for tests of the gate. Signal-safe: no.
#ifndef WALKHAMMER_REPORTS_GATE_TESTING_H_
#define WALKHAMMER_REPORTS_GATE_TESTING_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "harness/base/walk_time.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/record_testing.h"

namespace walkhammer {

// A bucket of a synthetic run, seen once in each `every` periods.
struct MadeBucket {
  std::string oracle = "crash", outcome = "fault", title = "crash in f";
  uint64_t every = 1;
  int confirmed = 5, tries = 5;
  bool has_input = true;
};

// A stress run of one cell. Its counts vary from period to period by more than chance.
struct MadeRun {
  std::string jdk = "/jdks/jdk-a";
  std::string version = "25";  // of the JDK
  std::string workload = "torture:mixed";
  int periods = 60;
  double walks = 20000;   // a period
  double failing = 0.01;  // share of -5 in `region`
  std::string region = "nmethod";
  double ns = 1000;       // time of a walk of 8 frames or more, its geometric mean
  double brief = 0;       // share of walks of 2 frames, which take half as long
  double run_spread = 0;  // of the share from run to run, as a standard deviation of its log
  std::vector<MadeBucket> buckets = {};
  CellStatus status = CellStatus::kPassed;
  int reached = 0;  // blocks of TestCoverage; 0: no coverage
  uint64_t seed = 1;
  std::string engine = "stress", walker = "agct";
  std::vector<SceneRow> scenes = {};

  // Writes the run.
  void Write(const std::string& dir) const;
};

// The cell of a synthetic run.
inline CellRow MadeCell(const MadeRun& made) {
  CellRow cell = TestCell(0);
  cell.label = made.workload + " " + made.jdk.substr(made.jdk.rfind('/') + 1) + " default";
  cell.workload = made.workload;
  cell.jdk_path = made.jdk;
  cell.profile = "default";
  cell.status = made.status;
  return cell;
}

inline RunIdentity MadeIdentity(const MadeRun& made) {
  RunIdentity identity = TestIdentity();
  identity.jdk_path = made.jdk;
  identity.vm_version = "Vendor VM " + made.version;
  identity.engine = made.engine;
  identity.walker = made.walker;
  identity.started_at = fmt::format("2026-01-02T03:04:{:02}Z", made.seed % 60);
  return identity;
}

// `ns`: of a walk that is not brief.
inline void AddMadeTime(bool is_brief, double ns, CountsSoFar& so_far) {
  const int slot = TimeSlotOf(static_cast<uint64_t>(is_brief ? ns / 2 : ns));
  so_far.times[static_cast<size_t>(is_brief ? kTimeSlots + slot : slot)].count++;
}

inline void MadeRun::Write(const std::string& dir) const {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  RunWriter run = std::move(RunWriter::Create(dir, MadeIdentity(*this)).value());
  const CellRow cell = MadeCell(*this);
  EXPECT_TRUE(run.SaveCell(cell).ok());
  CountsSoFar so_far{0,
                     {{"agct", cell.label, "in_Java", region, "frames", 0},
                      {"agct", cell.label, "in_Java", region, "-5", 0},
                      {"agct", cell.label, "in_Java", "codelet", "frames", 0}},
                     {},
                     {}};
  for (const int least_frames : brief > 0 ? std::vector{8, 2} : std::vector{8})
    for (int slot = 0; slot < kTimeSlots; slot++)
      so_far.times.push_back({"agct", cell.label, least_frames, TimeSlotBegin(slot), 0});
  std::vector<int64_t> ids;
  for (const MadeBucket& bucket : buckets) {
    const auto added =
        run.AddFinding(TestRecord(bucket.oracle, bucket.outcome, bucket.title, Realism::kGenuine));
    ids.push_back(added.value().bucket);
    const std::filesystem::path folder = dir + "/" + added.value().folder;
    std::filesystem::create_directories(folder);
    if (bucket.has_input) std::ofstream(folder / kInputName) << "walk 1\n";
    EXPECT_TRUE(run.SetConfirmed(ids.back(), bucket.confirmed, bucket.tries).ok());
    so_far.seen[ids.back()] = 0;
  }
  Periods counted;
  const double of_run = std::exp(run_spread * normal(random));
  for (int period = 0; period < periods; period++) {
    const double share = failing * of_run * std::exp(0.1 * normal(random));
    std::binomial_distribution<uint64_t> errors(static_cast<uint64_t>(walks), std::min(1.0, share));
    const uint64_t failed = failing > 0 ? errors(random) : 0;
    so_far.counts[0].count += static_cast<uint64_t>(walks) - failed;
    so_far.counts[1].count += failed;
    so_far.counts[2].count += static_cast<uint64_t>(walks) / 4;
    const double of_period = ns * std::exp(0.05 * normal(random));
    for (int i = 0; i < 500; i++)
      AddMadeTime(i < 500 * brief, of_period * std::exp(0.3 * normal(random)), so_far);
    for (size_t i = 0; i < buckets.size(); i++)
      if (static_cast<uint64_t>(period) % buckets[i].every == 0) so_far.seen[ids[i]]++;
    so_far.walks += static_cast<uint64_t>(walks * 1.25);
    counted.End(static_cast<uint64_t>(period + 1) * 1000, so_far);
  }
  EXPECT_TRUE(run.SaveCounts(so_far.counts).ok());
  EXPECT_TRUE(run.SavePeriods(0, counted).ok());
  EXPECT_TRUE(run.SavePeriods(kNoCell, counted).ok());
  EXPECT_TRUE(run.SaveScenes(scenes).ok());
  for (size_t i = 0; i < buckets.size(); i++)
    EXPECT_TRUE(run.SetSeen(ids[i], so_far.seen[ids[i]]).ok());
  if (reached > 0) {
    EXPECT_TRUE(run.SetCoverage(TestCoverage()).ok());
    std::vector<uint8_t> hit(TestCoverage().blocks.size());
    for (int i = 0; i < reached; i++) hit[static_cast<size_t>(i)] = 1;
    EXPECT_TRUE(run.SaveBlocks(hit, 1000).ok());
  }
  RunTotals totals = TestTotals();
  totals.walks = so_far.walks;
  totals.successful = so_far.walks / 2;
  EXPECT_TRUE(run.Finish(RunStatus::kCleanEnd, totals).ok());
}

// A fixture: runs in folders of their own, each of another seed.
class MadeRuns : public testing::Test {
 protected:
  // Writes a run, whose seed is the next one, and returns its folder.
  std::string Add(MadeRun run) {
    run.seed = ++seed_;
    const std::string dir = temp_.Under(("run" + std::to_string(seed_)).c_str());
    run.Write(dir);
    return dir;
  }

  TemporaryFolder temp_;
  uint64_t seed_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_REPORTS_GATE_TESTING_H_
