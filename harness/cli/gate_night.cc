// SPDX-License-Identifier: Apache-2.0
// gate --night: judges a night of runs, as ci/nightly.sh makes them.
#include <filesystem>

#include "harness/base/print.h"
#include "harness/base/text.h"
#include "harness/cli/gate.h"
#include "harness/cli/run_jdk.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "reports/night.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr int kReplays = 5;  // of a bug that may be new, on each JDK, without --replay

// Replays requests on the JDKs of runs.
class Replayer {
 public:
  explicit Replayer(const GateOptions& options)
      : times_(options.replays == 0 ? kReplays : static_cast<int>(options.replays)),
        jobs_(static_cast<int>(options.jobs)) {}
  Status made() const { return scratch_.made(); }

  NightReplay Replay(const Sighting& sighting, const std::string& now,
                     const std::string& before) const {
    NightReplay tally{sighting.shown, sighting.of, 0, 0};
    const auto run = IdentityOf(now), base = before.empty() ? std::nullopt : IdentityOf(before);
    if (run && tally.of == 0) Count(sighting, *run, tally.shown, tally.of);
    // Without a build id, nothing tells that a JDK at the same place is still the same build.
    const bool is_told =
        run && base && (!base->libjvm_build_id.empty() || base->jdk_path != run->jdk_path);
    if (tally.shown > 0 && is_told) Count(sighting, *base, tally.shown_before, tally.of_before);
    return tally;
  }

 private:
  // Replays on the JDK of the run, if that is still the build that the run walked.
  void Count(const Sighting& sighting, const RunIdentity& run, int& shown, int& of) const {
    const auto jdk = OpenJdk(run.jdk_path);
    if (!jdk.ok() || jdk.value().build_id != run.libjvm_build_id) return;
    const auto walk = ParseWalk(sighting.walk, sighting.signature);
    if (!walk.ok()) return;
    const auto times =
        TimesShown(walk.value(), sighting.signature,
                   SetupOfRun(run, jdk.value(), sighting.flags, scratch_.path()), times_, jobs_);
    if (!times) return;
    shown = *times;
    of = times_;
  }

  static std::optional<RunIdentity> IdentityOf(const std::string& dir) {
    const auto db = RunReader::Open(dir);
    if (!db.ok()) return std::nullopt;
    const auto run = db.value().Run();
    if (!run.ok()) return std::nullopt;
    RunIdentity identity = run.value().identity;
    if (identity.libjvm_build_id == kNoBuildId) identity.libjvm_build_id.clear();
    return identity;
  }

  int times_, jobs_;
  ScratchFolder scratch_;
};

// The gate's texts go beside the reports.
Status WriteGates(const std::string& night, const NightVerdict& verdict) {
  std::error_code error;
  const fs::path reports = fs::path(night) / "reports";
  fs::create_directories(reports, error);
  for (const NightGate& gate : verdict.gates)
    if (!gate.text.empty())
      RETURN_IF_ERROR(
          WriteFileAtomically((reports / (gate.group + ".gate.txt")).string(), gate.text));
  return Ok();
}

// The folder that has the night.
std::string FolderOf(const std::string& night) {
  const fs::path self = fs::absolute(night).lexically_normal();
  return (self.has_filename() ? self : self.parent_path()).parent_path().string();
}

}  // namespace

Result<ExitCode> RunGateNight(const GateOptions& options) {
  if (options.baseline.size() > 1) return BadInput("gate --night takes one night as --baseline");
  NightInput input{options.night, options.nights, "", {}, nullptr, {}, {}};
  if (!options.baseline.empty()) input.baseline = options.baseline.front();
  if (input.nights.empty()) input.nights = FolderOf(options.night);
  ASSIGN_OR_RETURN(input.policy, PolicyOf(options));
  ASSIGN_OR_RETURN(const Judging judging, ReadJudging(options.judging));
  input.known = judging.known.get();
  input.today = judging.today;
  input.failed = options.failed;
  const Replayer replayer(options);
  RETURN_IF_ERROR(replayer.made());
  input.replay = [&](const Sighting& sighting, const std::string& now, const std::string& before) {
    return replayer.Replay(sighting, now, before);
  };
  ASSIGN_OR_RETURN(const NightVerdict verdict, JudgeNight(input));
  if (Interrupted().load()) return ToolFailed("interrupted before the night was judged");
  RETURN_IF_ERROR(WriteGates(options.night, verdict));
  RETURN_IF_ERROR(WriteNightRecord(options.night, verdict.record));
  if (options.json)
    Print(stdout, "{}\n", NightJsonText(verdict));
  else
    Print(stdout, "{}", NightText(verdict));
  return verdict.exit;
}

}  // namespace walkhammer
