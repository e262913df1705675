// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/text.h"
#include "harness/crash/shapes.h"
#include "harness/crash/walked_context.h"

namespace walkhammer {
namespace {

constexpr int kKnownExactRank = 95;
constexpr int kKnownFunctionRank = 90;
constexpr int kContextRank = 70;  // minus what each further assumption costs
constexpr int kAssumptionCost = 5;

// Comment and expect lines of a .walk text, as far as candidates need them.
std::string WithoutCommentsAndExpect(const std::string& text) {
  std::string kept;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty() || trimmed.starts_with('#') || trimmed.starts_with("expect ")) continue;
    kept += line + "\n";
  }
  return kept;
}

std::string ExpectOf(const std::string& text) {
  for (const std::string& line : Split(text, '\n'))
    if (line.starts_with("expect ")) return std::string(Trim(std::string_view(line).substr(7)));
  return "";
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return text;
}

CrashCandidate Finished(std::string what, int rank, std::vector<FieldNote> fields,
                        const std::string& body, const CrashTarget& target) {
  CrashCandidate candidate{std::move(what), rank, std::move(fields), ""};
  candidate.text = "# " + OneLine(candidate.what) + "\n";
  for (const FieldNote& note : candidate.fields)
    candidate.text += OneLine(fmt::format("# {}: {}, {}", note.field,
                                          ConfidenceWord(note.confidence), note.why)) +
                      "\n";
  candidate.text += body;
  if (!target.expect.empty()) candidate.text += "expect " + OneLine(target.expect) + "\n";
  return candidate;
}

void AddKnown(const std::vector<BugRequest>& known, const CrashTarget& target,
              std::vector<CrashCandidate>& candidates) {
  std::set<std::string> bodies;  // the same input may be kept for several JDKs
  for (const BugRequest& input : known) {
    const std::string expect = ExpectOf(input.text);
    const Closeness closeness = Compare(target, expect, "");
    if (closeness < Closeness::kFunction) continue;
    const std::string body = WithoutCommentsAndExpect(input.text);
    if (!bodies.insert(body).second) continue;
    const bool exact = closeness == Closeness::kExact;
    std::vector<FieldNote> notes = {{"all", exact ? Confidence::kLikely : Confidence::kGuess,
                                     "a known input that shows " + expect}};
    candidates.push_back(Finished("the known input " + input.file,
                                  exact ? kKnownExactRank : kKnownFunctionRank, std::move(notes),
                                  body, target));
  }
}

}  // namespace

std::vector<CrashCandidate> CandidatesOf(const CrashReport& report, const CrashedChain& chain,
                                         const GuiltVerdict& guilt, const CrashTarget& target,
                                         const std::vector<BugRequest>& known, size_t most) {
  std::vector<CrashCandidate> candidates;
  const bool has_walker = guilt.pattern != nullptr && guilt.pattern->walker[0] != 0;
  const std::string walker = has_walker ? guilt.pattern->walker : "agct";
  AddKnown(known, target, candidates);
  int rank = kContextRank;
  for (const WalkedContext& context : WalkedContextsOf(report, chain, walker)) {
    candidates.push_back(
        Finished(context.what, rank, context.walk.notes(), context.walk.Text(), target));
    rank -= kAssumptionCost;
  }
  for (const ShapedWalk& shaped : ShapesFor(report, target, walker))
    candidates.push_back(
        Finished(shaped.what, shaped.fit, shaped.walk.notes(), shaped.walk.Text(), target));
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.rank > b.rank; });
  if (candidates.size() > most) candidates.resize(most);
  return candidates;
}

}  // namespace walkhammer
