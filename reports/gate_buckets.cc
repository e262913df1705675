// SPDX-License-Identifier: Apache-2.0
// The checks of what was found, walked and reached at all.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/numbers.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

GateKind KindOf(const GateBucket& bucket) { return NewKindOf(bucket.row.signature.oracle); }

// Replays showed it again, or there could be none and another run did.
bool IsConfirmed(const GateBucket& bucket) {
  return bucket.row.confirmed > 0 || bucket.row.tries == 0 || bucket.Runs() > 1;
}

std::string SeenText(const GateBucket& bucket, const GateSide& side) {
  return fmt::format("seen {} in {} of {} periods and {} of {}, {}", Counted(bucket.seen, "time"),
                     bucket.periods.size(), Grouped(side.periods), bucket.Runs(),
                     Counted(side.runs.size(), "run"), RealismWord(bucket.row.realism));
}

// A bucket of the baseline; null: it has none.
std::string BeforeText(const GateBucket* bucket, const GateSide& baseline) {
  return "the baseline: " + (bucket == nullptr
                                 ? fmt::format("never in {} periods", Grouped(baseline.periods))
                                 : SeenText(*bucket, baseline));
}

std::string ReplayText(const GateBucket& bucket) {
  if (bucket.row.tries == 0) return "not replayed";
  return fmt::format("replayed {} of {} times", bucket.row.confirmed, bucket.row.tries);
}

// For the line of a pull request: "10 of 10 against 0 of 10, genuine", or the run's own replays.
std::string EvidenceText(const GateBucket& bucket, const std::optional<ReplayCounts>& counts) {
  const std::string replays = counts ? fmt::format("{} of {} against {} of {}", counts->candidate,
                                                   counts->times, counts->baseline, counts->times)
                                     : ReplayText(bucket);
  return fmt::format("{}, {}", replays, RealismWord(bucket.row.realism));
}

// True if the store says what the bucket is, so that no test is asked.
bool IsDecided(const GateBucket& bucket) {
  return bucket.word.verdict != BugVerdict::kNew && bucket.word.verdict != BugVerdict::kExpired;
}

// Buckets of `side` that `other` lacks, with the chance that this is for nothing, adjusted.
struct Lacking {
  const std::string* title;
  const GateBucket* bucket;
  double p;
};
// `decided`: also those.
std::vector<Lacking> BucketsOnlyOf(const GateSide& side, const GateSide& other, bool decided) {
  std::vector<Lacking> buckets;
  std::vector<double> p;
  for (const auto& [title, bucket] : side.buckets) {
    if (other.buckets.contains(title) || (!decided && IsDecided(bucket))) continue;
    buckets.push_back({&title, &bucket, 1});
    p.push_back(AllInCandidate(bucket.periods.size(), other.periods, side.periods));
  }
  const std::vector<double> adjusted = Holm(p);
  for (size_t i = 0; i < buckets.size(); i++) buckets[i].p = adjusted[i];
  return buckets;
}

}  // namespace

GateKind NewKindOf(std::string_view oracle) {
  if (oracle == kHangOracleName) return GateKind::kNewHang;
  return oracle == kCrashOracleName || oracle == kDeathOracleName ? GateKind::kNewCrash
                                                                  : GateKind::kNewFinding;
}

void AddChange(GateChange change, const GatePolicy& policy, GateVerdict& verdict) {
  change.effect = policy.EffectOf(change.kind);
  if (change.effect != GateEffect::kIgnore) verdict.changes.push_back(std::move(change));
}

namespace {

constexpr int kMostReplayed = 20;  // buckets

// Replays inputs of buckets, of which the first kMostReplayed are worth the time.
class Replays {
 public:
  explicit Replays(const GateReplay& replay) : replay_(replay) {}

  // nullopt: there was nothing to replay, or no replay.
  std::optional<ReplayCounts> Of(const GateBucket& bucket) {
    if (!replay_ || bucket.input.empty() || replayed_++ >= kMostReplayed) return std::nullopt;
    return replay_(bucket.input);
  }

 private:
  const GateReplay& replay_;
  int replayed_ = 0;
};

// What replays on both sides say of a bucket that only the candidate's runs have.
enum class Proof { kNone, kNew, kOld };

Proof ProofOf(const std::optional<ReplayCounts>& counts) {
  if (!counts) return Proof::kNone;
  if (counts->baseline > 0) return Proof::kOld;
  return counts->candidate > 0 ? Proof::kNew : Proof::kNone;
}

std::string ProofText(const ReplayCounts& counts) {
  return fmt::format("; of {} replays the candidate reproduced {}, the baseline {}", counts.times,
                     counts.candidate, counts.baseline);
}

// Judges a bucket that only the candidate's runs have.
GateChange ChangeOf(const GateSides& sides, const Lacking& only,
                    const std::optional<ReplayCounts>& counts) {
  const GateBucket& bucket = *only.bucket;
  const Proof proof = ProofOf(counts);
  const bool rare = only.p >= sides.policy.alpha;
  const bool sure = proof == Proof::kNew || (proof == Proof::kNone && !rare && IsConfirmed(bucket));
  std::string details = fmt::format("{}, {}; {}", SeenText(bucket, sides.candidate),
                                    ReplayText(bucket), BeforeText(nullptr, sides.baseline));
  if (!bucket.word.id.empty())  // expired
    details = fmt::format("{} {}; {}", bucket.word.id, bucket.word.why, details);
  if (counts) details += ProofText(*counts);
  if (proof == Proof::kNone && rare)
    details += counts ? "; it may be chance"
                      : "; it may be chance, and replays on both JDKs (--replay) may tell";
  return {sure ? KindOf(bucket) : GateKind::kUnsure,
          *only.title,
          details,
          only.p,
          bucket.input,
          bucket.word.id,
          EvidenceText(bucket, counts)};
}

// Judges a bucket that is a bug of the store. One that is fixed in the candidate should not be
// there, whatever the baseline has, unless it was back there already. One that is known is
// reported only if the baseline lacks it.
void CheckBug(const GateSides& sides, const std::string& title, const GateBucket& bucket,
              const std::optional<ReplayCounts>& counts, GateVerdict& verdict) {
  const BugWord& word = bucket.word;
  const std::string evidence = EvidenceText(bucket, counts);
  const auto at = sides.baseline.buckets.find(title);
  const GateBucket* before = at == sides.baseline.buckets.end() ? nullptr : &at->second;
  const std::string figures = SeenText(bucket, sides.candidate) + "; " +
                              BeforeText(before, sides.baseline) +
                              (counts ? ProofText(*counts) : "");
  if (word.verdict == BugVerdict::kReopened) {
    if (before != nullptr && before->word.verdict == BugVerdict::kReopened)
      verdict.notes.push_back(
          fmt::format("{} is back on both sides: {} {}", title, word.id, word.why));
    else
      AddChange({GateKind::kReopened, title,
                 fmt::format("is back: {} {}; {}", word.id, word.why, figures), 0, bucket.input,
                 word.id, evidence},
                sides.policy, verdict);
  } else if (before == nullptr && word.verdict == BugVerdict::kAccepted) {
    verdict.notes.push_back(fmt::format("{} is accepted: {}, {}", title, word.id, word.why));
  } else if (before == nullptr && WantsSomebody(bucket.on_other.verdict)) {
    AddChange({GateKind::kReopened, title,
               fmt::format("{}, which the baseline's build does not have; {}", word.id, figures), 0,
               bucket.input, word.id, evidence},
              sides.policy, verdict);
  } else if (before == nullptr && ProofOf(counts) == Proof::kOld) {
    verdict.notes.push_back(fmt::format("{} ({}) is not new: only the candidate's runs met it{}",
                                        title, word.id, ProofText(*counts)));
  } else if (before == nullptr && ProofOf(counts) == Proof::kNew) {
    AddChange({KindOf(bucket), title, fmt::format("looks like {}; {}", word.id, figures), 0,
               bucket.input, word.id, evidence},
              sides.policy, verdict);
  } else if (before == nullptr) {
    AddChange(
        {GateKind::kKnown, title,
         fmt::format("known: {}{}{}; {}", word.id, word.why.empty() ? "" : ", ", word.why, figures),
         0, bucket.input, word.id, evidence},
        sides.policy, verdict);
  }
}

}  // namespace

void CheckBuckets(const GateSides& sides, GateVerdict& verdict) {
  const GateSide &baseline = sides.baseline, &candidate = sides.candidate;
  verdict.buckets.compared = candidate.buckets.size();
  Replays replays(sides.replay);
  for (const Lacking& only : BucketsOnlyOf(candidate, baseline, false)) {
    const std::optional<ReplayCounts> counts = replays.Of(*only.bucket);
    if (ProofOf(counts) == Proof::kOld) {
      verdict.notes.push_back(fmt::format("{} is not new: only the candidate's runs met it{}",
                                          *only.title, ProofText(*counts)));
      continue;
    }
    if (only.p >= sides.policy.alpha && !counts) verdict.buckets.not_enough++;
    AddChange(ChangeOf(sides, only, counts), sides.policy, verdict);
  }
  for (const auto& [title, bucket] : candidate.buckets) {
    if (!IsDecided(bucket)) continue;
    // What replays on the candidate alone is new, whatever it looks like.
    std::optional<ReplayCounts> counts;
    if (!baseline.buckets.contains(title) && bucket.word.verdict != BugVerdict::kAccepted)
      counts = replays.Of(bucket);
    CheckBug(sides, title, bucket, counts, verdict);
  }
  for (const Lacking& only : BucketsOnlyOf(baseline, candidate, true))
    if (only.p < sides.policy.alpha)
      verdict.better.push_back(fmt::format("gone: {} (the baseline's was {})", *only.title,
                                           SeenText(*only.bucket, baseline)));
}

void CheckWorkloads(const GateSides& sides, GateVerdict& verdict) {
  const GateSide &baseline = sides.baseline, &candidate = sides.candidate;
  const GatePolicy& policy = sides.policy;
  for (const std::string& workload : baseline.walked) {
    const bool there = candidate.walked.contains(workload);
    if (baseline.not_walked.contains(workload)) continue;
    const auto why = candidate.not_walked.find(workload);
    if (there && why == candidate.not_walked.end()) continue;
    AddChange({GateKind::kLostWorkload, workload,
               there ? fmt::format("the candidate's {}", why->second)
                     : "the candidate's runs do not have it"},
              policy, verdict);
  }
  for (const std::string& workload : candidate.walked)
    if (!baseline.walked.contains(workload))
      verdict.notes.push_back(
          fmt::format("{} was not compared: only the candidate's runs have it", workload));
}

void CheckTruth(const GateSides& sides, GateVerdict& verdict) {
  const GateSide &baseline = sides.baseline, &candidate = sides.candidate;
  std::string lost;
  size_t count = 0;
  for (const std::string& scene : candidate.untrue)
    if (baseline.scenes.contains(scene) && !baseline.untrue.contains(scene) &&
        !baseline.not_walked.contains(scene) && ++count <= 5)
      lost += (lost.empty() ? "" : ", ") + scene;
  if (count == 0) return;
  AddChange({GateKind::kLostTruth, Counted(count, "scene"),
             fmt::format("undisturbed walks of {}{} gave the true stack in all of the baseline's "
                         "runs, and not in the candidate's",
                         lost, count > 5 ? ", ..." : "")},
            sides.policy, verdict);
}

void CheckCoverage(const GateSides& sides, GateVerdict& verdict) {
  const GateSide &baseline = sides.baseline, &candidate = sides.candidate;
  const GatePolicy& policy = sides.policy;
  if (baseline.coverage.empty() || candidate.coverage.empty()) return;
  if (candidate.walks < baseline.walks / 2) {
    verdict.notes.push_back(
        "coverage was not compared: the candidate's runs made less than half of the walks");
    return;
  }
  const double before = *std::min_element(baseline.coverage.begin(), baseline.coverage.end()),
               now = *std::max_element(candidate.coverage.begin(), candidate.coverage.end());
  if (before - now < policy.coverage) return;
  std::string lost;
  size_t functions = 0;
  const auto runs = static_cast<int>(baseline.coverage.size());
  for (const auto& [name, reached] : baseline.functions) {
    const auto at = candidate.functions.find(name);
    if (reached < runs || at == candidate.functions.end() || at->second > 0) continue;
    if (++functions <= 5) lost += (lost.empty() ? "" : ", ") + name;
  }
  AddChange({GateKind::kLostCoverage, "coverage of the walker's code",
             fmt::format("{:.1f} % of its blocks, the baseline's runs had at least {:.1f} %; {}",
                         100 * now, 100 * before,
                         functions == 0
                             ? "no function was lost as a whole"
                             : fmt::format("{} not reached: {}{}", Counted(functions, "function"),
                                           lost, functions > 5 ? ", ..." : ""))},
            policy, verdict);
}

}  // namespace walkhammer
