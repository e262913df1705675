// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/reproduce/candidate_replays.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <thread>

#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {
namespace {

struct Parsed {
  size_t index;  // of the candidate
  WalkFile file;
};

template <typename Visit>
void ForEachValueOf(const WalkRequest& request, Visit visit) {
  for (const Value& value : {request.pc, request.sp, request.fp, request.lr, request.anchor_sp,
                             request.anchor_pc, request.anchor_fp})
    visit(value);
  for (const Edit& edit : std::span(request.edits, request.edit_count)) visit(edit.value);
}

// A request that has each name of the others: the process that walks it first knows them all.
WalkFile FileWithAllNames(const std::vector<Parsed>& group) {
  constexpr int32_t kUnusedSlot = kSampledEnd - 0x2000;
  WalkFile all;
  all.request.scene = group.front().file.request.scene;
  all.request.walker = group.front().file.request.walker;
  std::set<uint32_t> names;
  for (const Parsed& parsed : group)
    ForEachValueOf(parsed.file.request, [&](const Value& value) {
      if (value.symbol < kSymbolKinds || !names.insert(value.symbol).second) return;
      if (all.request.edit_count == WalkRequest::kMaxEdits) return;
      const int32_t slot = kUnusedSlot + 8 * all.request.edit_count;
      all.request.edits[all.request.edit_count++] = {slot, EditOp::kSet, {}, {0, value.symbol, 0}};
    });
  return all;
}

// Takes what a walk found.
class Tally {
 public:
  Tally(const CrashTarget& target, CandidateOutcome& outcome)
      : target_(target), outcome_(outcome) {}

  // `candidate`: what was walked; null if that is unknown.
  void Take(const Result<ReplayOutcome>& walked, const std::string& what,
            const CrashCandidate* candidate) {
    if (!walked.ok()) {
      outcome_.unable++;
      outcome_.unable_reason = walked.failure().message;
      return;
    }
    outcome_.walked++;
    for (const FindingRecord& finding : walked.value().findings) Take(finding, what, candidate);
  }

 private:
  void Take(const FindingRecord& finding, const std::string& what,
            const CrashCandidate* candidate) {
    const std::string& expect = finding.signature.expect;
    const Closeness closeness = Compare(target_, expect, finding.native);
    if (closeness > outcome_.best.closeness)
      outcome_.best = {closeness, expect, finding.request, what,
                       candidate != nullptr ? CandidateSourceText(candidate->source) : ""};
    if (closeness < Closeness::kFunction && finding.grade == Grade::kForbidden &&
        std::find(outcome_.others.begin(), outcome_.others.end(), expect) == outcome_.others.end())
      outcome_.others.push_back(expect);
  }

  const CrashTarget& target_;
  CandidateOutcome& outcome_;
};

std::string NameOf(size_t index, const CrashCandidate& candidate) {
  return fmt::format("candidate {}: {}", index + 1, candidate.what);
}

// Walks a group in one process that stays; a process that ends is replaced.
void WalkGroup(const std::vector<Parsed>& group, const SymbolTable& symbols,
               const std::vector<CrashCandidate>& candidates, const ChildSetup& setup,
               const std::function<bool()>& done, Tally& tally) {
  const std::string all = ToText(FileWithAllNames(group), symbols);
  auto run = ReplayRun::Start({all, "candidates"}, setup, true);
  if (!run.ok()) {
    tally.Take(run.failure(), "", nullptr);
    return;
  }
  (void)run.value()->Wait(done);
  for (const Parsed& parsed : group) {
    if (done()) return;
    tally.Take(run.value()->WalkText(candidates[parsed.index].text, "candidate", done),
               NameOf(parsed.index, candidates[parsed.index]), &candidates[parsed.index]);
  }
}

void WalkAlone(const Parsed& parsed, const std::vector<CrashCandidate>& candidates,
               const ChildSetup& setup, const std::function<bool()>& done, Tally& tally) {
  const CrashCandidate& candidate = candidates[parsed.index];
  auto run = ReplayRun::Start({candidate.text, "candidate"}, setup);
  if (!run.ok()) {
    tally.Take(run.failure(), "", nullptr);
    return;
  }
  tally.Take(run.value()->Wait(done), NameOf(parsed.index, candidate), &candidate);
}

bool ShowsFunction(const Result<ReplayOutcome>& walked, const CrashTarget& target) {
  const std::vector<FindingRecord>& findings = walked.value().findings;
  return std::any_of(findings.begin(), findings.end(), [&](const FindingRecord& finding) {
    return Compare(target, finding.signature.expect, finding.native) >= Closeness::kFunction;
  });
}

// How many replays are wanted in all, once the first ones are over.
int ReplaysWanted(const Reliability& first) {
  const bool always = first.shown == first.times;
  return always ? kFirstReplays
                : std::min(kMostReplays, kFirstReplays + ReplaysFor(first.shown, first.times));
}

}  // namespace

Result<CandidateOutcome> WalkCandidates(const std::vector<CrashCandidate>& candidates,
                                        const CrashTarget& target, const ChildSetup& setup,
                                        const std::function<bool()>& stop) {
  CandidateOutcome outcome;
  Tally tally(target, outcome);
  const auto done = [&] { return outcome.best.closeness == Closeness::kExact || stop(); };
  const auto symbols = NewSymbolTable();
  const auto sampled = static_cast<uint8_t>(FindScene(kSampledScene).value_or(0));
  std::vector<Parsed> together;
  for (size_t i = 0; i < candidates.size() && !done(); i++) {
    Parsed parsed{i, {}};
    const std::string wrong = ParseText(candidates[i].text, "candidate", *symbols, parsed.file);
    if (!wrong.empty()) return ToolFailed("a candidate is malformed: " + wrong);
    // Only this scene has room for what names all; and it takes other code for names that it lacks.
    if (parsed.file.request.scene == sampled)
      together.push_back(parsed);
    else
      WalkAlone(parsed, candidates, setup, done, tally);
  }
  if (!together.empty() && !done()) WalkGroup(together, *symbols, candidates, setup, done, tally);
  if (outcome.walked == 0 && outcome.unable > 0) return Unable(outcome.unable_reason);
  return outcome;
}

int ReplaysFor(int shown, int times) {
  const double rate = std::max(shown, 1) / static_cast<double>(times);
  if (rate >= 1) return 1;
  return static_cast<int>(std::ceil(std::log(0.05) / std::log(1 - rate)));
}

Reliability MeasureReliability(const Hit& hit, const CrashTarget& target, const ChildSetup& setup,
                               const std::function<bool()>& stop) {
  const size_t jobs = std::max(1U, std::thread::hardware_concurrency());
  Reliability reliability;
  std::vector<std::unique_ptr<ReplayRun>> running;
  int wanted = kFirstReplays;
  for (int started = 0; reliability.times < wanted && !stop();) {
    if (started < wanted && running.size() < jobs) {
      auto run = ReplayRun::Start({hit.text, hit.what}, setup);
      if (!run.ok()) break;
      running.push_back(std::move(run.value()));
      started++;
      continue;
    }
    for (size_t i = 0; i < running.size(); i++) {
      const auto walked = running[i]->Poll();
      if (walked == nullptr) continue;
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(i--));
      if (!walked->ok()) return reliability;
      reliability.times++;
      reliability.shown += ShowsFunction(*walked, target) ? 1 : 0;
      if (reliability.times == kFirstReplays) wanted = ReplaysWanted(reliability);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return reliability;
}

}  // namespace walkhammer
