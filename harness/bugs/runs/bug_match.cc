// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/runs/bug_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <utility>

#include "harness/base/text.h"
#include "harness/bugs/bug.h"
#include "harness/findings/signature.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

// The bug of a sighting.
struct BugMatch {
  const Bug* bug = nullptr;         // not fixed in that build; null: none
  const Bug* look_alike = nullptr;  // fixed in that build; the one that was seen last
  const Bug* elsewhere = nullptr;   // known, but not on the release line of that build
};

// The walker that a signature names; null if there is none of that name.
const WalkerInfo* WalkerOf(const std::string& signature) {
  const auto walker = FindWalker(signature.substr(0, signature.find_first_of(":@ ")));
  return walker ? &AllWalkers()[static_cast<size_t>(*walker)] : nullptr;
}

// True if that walker is not part of a JDK.
bool IsOfLibrary(const std::string& signature) {
  const WalkerInfo* walker = WalkerOf(signature);
  return walker != nullptr && !walker->local_functions.empty();
}

// The signature without the file of the walker's library: "asprof-vm: .." of "asprof-vm@x.so: ..".
std::string WithoutLibrary(std::string signature) {
  const size_t at = signature.find('@'), end = signature.find(": ");
  if (IsOfLibrary(signature) && at < end && end != std::string::npos) signature.erase(at, end - at);
  return signature;
}

// The signature as that of AsyncGetCallTrace, if the walker has called it: "agct: crash in f .." of
// "plugin@x.so: crash in f ..". For a user's own walker, that holds of crashes alone. Otherwise the
// signature.
std::string OfCalledAgct(const std::string& signature) {
  const WalkerInfo* walker = WalkerOf(signature);
  const size_t end = signature.find(": ");
  const bool own = signature.starts_with("plugin@") || signature.starts_with("agct-library@");
  const bool crash = end != std::string::npos && signature.find(": crash in ", end) == end;
  if (own && crash) return "agct" + signature.substr(end);
  // "agct against asgst: .." of "asprof-fp against asgst@x.so: ..".
  if (walker == nullptr || !walker->calls_agct) return signature;
  return "agct" + WithoutLibrary(signature).substr(strlen(walker->name));
}

// What patterns may match of a signature. A pattern that names no library is of each library that
// has the walker. One that names a walker also is of a death in a run of several, "agct,asgst: JVM
// death", which any of them may have caused.
// Each form of a genuine finding also is one with the end ", genuine".
std::vector<std::string> FormsOf(const std::string& signature, Realism realism) {
  std::vector<std::string> forms = {signature};
  for (const std::string& form : {WithoutLibrary(signature), OfCalledAgct(signature)})
    if (std::find(forms.begin(), forms.end(), form) == forms.end()) forms.push_back(form);
  const size_t end = signature.find(": ");
  if (signature.find(',') < end && end != std::string::npos)
    for (const std::string& walker : Split(signature.substr(0, end), ','))
      forms.push_back(walker + signature.substr(end));
  if (realism != Realism::kGenuine) return forms;
  for (size_t i = 0, plain = forms.size(); i < plain; i++) forms.push_back(forms[i] + ", genuine");
  return forms;
}

// How much of a signature with these forms the best pattern of the bug names; 0: none matches.
size_t BestPattern(const Bug& bug, const std::vector<std::string>& forms) {
  size_t best = 0;
  for (const std::string& pattern : bug.signatures)
    if (std::any_of(forms.begin(), forms.end(), [&pattern](const std::string& form) {
          return MatchesSignature(pattern, form);
        }))
      best = std::max(best, 1 + NamedBytes(pattern));
  return best;
}

// The feature release of a version: 17 of "17.0.9+9"; -1 if it cannot be read.
int64_t ReleaseLine(const std::string& version) {
  const auto parsed = ParseJdkVersion(version);
  return parsed ? static_cast<int64_t>(parsed->numbers.front()) : -1;
}

// True if the bug is in that build: by its libraries, by its ranges of JDKs, or because it was seen
// there or, without ranges, in a build of the same release line. `unstated`: see WordOn.
bool IsOfBuild(const Bug& bug, const Sighting& sighting, bool unstated) {
  const std::string& here = sighting.seen.build;
  if (!bug.affected_libraries.empty() && IsOfLibrary(sighting.signature)) return true;
  if (AffectedByVersion(bug, here) == Affected::kYes) return true;
  if (bug.affected.empty() && bug.builds.empty()) return unstated && bug.affected_libraries.empty();
  return std::any_of(bug.builds.begin(), bug.builds.end(), [&](const std::string& build) {
    return build == here || (bug.affected.empty() && ReleaseLine(build) == ReleaseLine(here));
  });
}

BugMatch MatchIn(const BugStore& store, const Sighting& sighting, bool unstated) {
  BugMatch match;
  const std::vector<std::string> forms = FormsOf(sighting.signature, sighting.realism);
  size_t best = 0;
  for (const auto& [id, bug] : store.bugs()) {
    const size_t named = BestPattern(bug, forms);
    if (named == 0) continue;
    const Bug& root = store.Root(bug);
    if (!IsFixedIn(root, sighting.seen.build)) {
      if (!IsOfBuild(root, sighting, unstated)) {
        match.elsewhere = &root;
        continue;
      }
      if (named > best) match.bug = &root;
      best = std::max(best, named);
    } else if (match.look_alike == nullptr ||
               std::pair(match.look_alike->last_seen.date, match.look_alike->id) <
                   std::pair(root.last_seen.date, root.id)) {
      match.look_alike = &root;
    }
  }
  return match;
}

BugVerdict VerdictOn(const Bug& bug, const Day& today) {
  if (IsExpired(bug, today)) return BugVerdict::kExpired;
  if (bug.state == BugState::kAccepted) return BugVerdict::kAccepted;
  return bug.state == BugState::kFixed ? BugVerdict::kFixed : BugVerdict::kKnown;
}

std::string WhyVerdict(const Bug& bug, BugVerdict verdict) {
  if (verdict == BugVerdict::kNew || verdict == BugVerdict::kKnown) return "";
  const std::string words = StateWords(bug);
  if (verdict == BugVerdict::kExpired) return "was accepted " + words;
  return verdict == BugVerdict::kFixed ? "fixed " + words : words;
}

Bug BugOf(const Sighting& sighting, const Bug* look_alike, const Day& today) {
  Bug bug;
  Signature name;
  name.key = name.title = sighting.signature;
  bug.id = BucketName(name);
  bug.title = sighting.signature;
  bug.signatures = {PatternOf(sighting.signature)};
  if (look_alike != nullptr) {
    bug.like = look_alike->id;
    AddEvidence(
        today,
        fmt::format("looks like {}, which was fixed in {}", look_alike->id, look_alike->fixed_in),
        bug);
  }
  AddEvidence(today,
              fmt::format("met on {} in {}, {}, {}",
                          sighting.seen.build.empty() ? "an unknown build" : sighting.seen.build,
                          sighting.seen.run, RealismWord(sighting.realism),
                          sighting.of == 0 ? "not replayed"
                                           : fmt::format("replayed {} of {} times", sighting.shown,
                                                         sighting.of)),
              bug);
  return bug;
}

// A request that was shown to show the bug is better than one that was not.
void NoteSighting(const Sighting& sighting, Bug& bug) {
  NoteSeen(sighting.seen, bug);
  const bool first = bug.walk.empty() && !sighting.walk.empty();
  const bool better = bug.reproduced.shown == 0 && sighting.shown > 0;
  if (!first && !better) return;
  bug.walk = sighting.walk;
  bug.flags = sighting.flags;
  bug.provider = sighting.provider;
  bug.reproduced = {sighting.of > 0 ? sighting.seen.build : "", sighting.shown, sighting.of};
}

void AddMet(const Sighting& sighting, BugVerdict verdict, const Bug& bug,
            std::map<std::string, MetBug>& met) {
  const auto [at, first] = met.try_emplace(bug.id);
  MetBug& one = at->second;
  if (first) {
    one = {
        bug.id, verdict,        sighting.signature, WhyVerdict(bug, verdict), {}, sighting.realism,
        0,      sighting.shown, sighting.of};
  }
  one.verdict = std::min(one.verdict, verdict);
  one.realism = std::min(one.realism, sighting.realism);
  one.count += sighting.count;
  if (std::find(one.builds.begin(), one.builds.end(), sighting.seen.build) == one.builds.end())
    one.builds.push_back(sighting.seen.build);
}

}  // namespace

const char* BugVerdictWord(BugVerdict verdict) {
  constexpr const char* kWords[] = {"new", "reopened", "expired", "known", "accepted", "fixed"};
  return kWords[static_cast<int>(verdict)];
}

bool WantsSomebody(BugVerdict verdict) { return verdict <= BugVerdict::kExpired; }

BugWord WordOn(const Sighting& sighting, const Day& today, const BugStore& store, bool unstated) {
  const BugMatch match = MatchIn(store, sighting, unstated);
  if (match.bug != nullptr) {
    const BugVerdict verdict = VerdictOn(*match.bug, today);
    return {verdict, match.bug->id, WhyVerdict(*match.bug, verdict)};
  }
  if (match.look_alike != nullptr)
    return {BugVerdict::kReopened, match.look_alike->id,
            "was fixed in " + match.look_alike->fixed_in};
  if (match.elsewhere == nullptr) return {};
  return {BugVerdict::kNew, "", "like " + match.elsewhere->id + ", known on other JDKs"};
}

Result<std::vector<MetBug>> MeetBugs(const std::vector<Sighting>& sightings, const Day& today,
                                     BugStore& store, bool opens) {
  std::map<std::string, MetBug> met;
  size_t opened = 0;
  for (const Sighting& sighting : sightings) {
    const BugMatch match = MatchIn(store, sighting, true);
    const bool joins = match.bug == nullptr && match.look_alike == nullptr;
    if (match.bug == nullptr && !opens) {
      const Bug bug = BugOf(sighting, match.look_alike, today);
      AddMet(sighting, joins ? BugVerdict::kNew : BugVerdict::kReopened, bug, met);
      continue;
    }
    if (const Bug* found = joins ? match.elsewhere : match.bug; found != nullptr) {
      Bug& bug = *store.Find(found->id).value();
      AddMet(sighting, joins ? BugVerdict::kNew : VerdictOn(bug, today), bug, met);
      NoteSighting(sighting, bug);
      continue;
    }
    if (++opened > kMostNewBugs)
      return BadInput(fmt::format("{}: has more than {} new bugs: no run has so many",
                                  sighting.seen.run, kMostNewBugs));
    Bug& bug = store.Add(BugOf(sighting, match.look_alike, today));
    AddMet(sighting, match.look_alike != nullptr ? BugVerdict::kReopened : BugVerdict::kNew, bug,
           met);
    NoteSighting(sighting, bug);
  }
  std::vector<MetBug> bugs;
  for (auto& [id, bug] : met) bugs.push_back(std::move(bug));
  std::stable_sort(bugs.begin(), bugs.end(),
                   [](const MetBug& a, const MetBug& b) { return a.verdict < b.verdict; });
  return bugs;
}

}  // namespace walkhammer
