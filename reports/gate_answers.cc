// SPDX-License-Identifier: Apache-2.0
// The check of the answers to the same requests.
#include "reports/gate_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "harness/base/numbers.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr size_t kMostOfClass = 200;       // requests of a class that are walked again
constexpr size_t kMostCrashesOfClass = 5;  // each costs the start of a JVM

// Ended without an answer.
bool IsCrash(const std::string& code) { return code == "crash" || code == "hang"; }

std::string WordOf(const std::string& code) {
  if (code == "frames") return code;
  if (IsCrash(code)) return "a " + code;
  return code == "other" ? "another code" : "code " + code;
}

// Requests with the same two codes.
struct AnswerClass {
  uint64_t count = 0;
  std::vector<DifferentAnswer> requests;  // the first of them
};
using AnswerClasses = std::map<std::pair<std::string, std::string>, AnswerClass>;

// The answer that all runs gave to a request that all that walked it were shown the same; none if
// they differ.
struct SideAnswer {
  bool is_walked = false, is_steady = true;
  Answer answer;

  void Add(const Answer& other) {
    if (!other.IsWalked()) return;
    is_steady &= !is_walked || (other.request == answer.request && other.digest == answer.digest);
    answer = other;
    is_walked = true;
  }
};

SideAnswer AnswerOf(const std::vector<const std::vector<Answer>*>& runs, size_t number) {
  SideAnswer all;
  for (const std::vector<Answer>* run : runs)
    if (number < run->size()) all.Add((*run)[number]);
  return all;
}

using RunsBySeed = std::map<uint64_t, std::vector<const std::vector<Answer>*>>;
RunsBySeed BySeed(const GateSide& side) {
  RunsBySeed by_seed;
  for (const auto& [run, answers] : side.answers)
    by_seed[side.runs[run].identity.seed].push_back(&answers);
  return by_seed;
}

// Compares the runs of both sides with one seed.
void CompareSeed(uint64_t seed, const RunsBySeed::mapped_type& before,
                 const RunsBySeed::mapped_type& now, GateFamily& compared, AnswerClasses& classes) {
  size_t most = 0;
  for (const auto* run : before) most = std::max(most, run->size());
  for (size_t number = 0; number < most; number++) {
    const SideAnswer then = AnswerOf(before, number), here = AnswerOf(now, number);
    if (!then.is_walked || !here.is_walked || then.answer.request != here.answer.request) continue;
    if (!then.is_steady || !here.is_steady) {
      compared.not_enough++;
      continue;
    }
    compared.compared++;
    if (then.answer.digest == here.answer.digest) continue;
    const std::pair codes(CodeOf(then.answer), CodeOf(here.answer));
    AnswerClass& at = classes[codes];
    at.count++;
    const bool crashes = IsCrash(codes.first) || IsCrash(codes.second);
    if (at.requests.size() < (crashes ? kMostCrashesOfClass : kMostOfClass))
      at.requests.push_back({seed, number, then.answer.request});
  }
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// "12 frames became code -5"; of two stacks the newest frame that differs.
std::string DifferenceText(const AnsweredAgain& answers) {
  const auto before = LinesOf(answers.baseline), now = LinesOf(answers.candidate);
  const std::string text = fmt::format("{} became {}", before.front(), now.front());
  for (size_t i = 1; i < before.size() && i < now.size(); i++)
    if (before[i] != now[i])
      return fmt::format("{}; frame {}: {} became {}", text, i - 1, before[i], now[i]);
  return text;
}

// Requests of which walks on both JDKs show that the answers always differ, by which are worse.
struct Shown {
  std::vector<const AnsweredAgain*> worse, other, better;

  explicit Shown(const std::vector<AnsweredAgain>& all) {
    for (const AnsweredAgain& answers : all)
      if (!answers.baseline.empty())
        (answers.worse > 0 ? worse : answers.worse < 0 ? better : other).push_back(&answers);
  }
};

// Adds what was shown: `what` names the requests, `text` has the figures and an example.
template <typename Text>
void AddShown(const GateSides& sides, const std::string& what, const Shown& shown, Text text,
              GateVerdict& verdict) {
  const GateKind other = sides.answers.same_release ? GateKind::kAnswers : GateKind::kOtherAnswers;
  for (const auto& [kind, answers] :
       {std::pair(GateKind::kAnswers, &shown.worse), std::pair(other, &shown.other)})
    if (!answers->empty())
      AddChange({kind, what, text(*answers), 0, answers->front()->input}, sides.policy, verdict);
  if (!shown.better.empty())
    verdict.better.push_back(fmt::format("answers: {}: {}", what, text(shown.better)));
}

void AddClass(const GateSides& sides, const std::pair<std::string, std::string>& codes,
              const AnswerClass& all, const std::vector<AnsweredAgain>& again,
              GateVerdict& verdict) {
  const std::string what =
      codes.first == codes.second
          ? fmt::format("{}, other ones", WordOf(codes.first))
          : fmt::format("{} became {}", WordOf(codes.first), WordOf(codes.second));
  const auto text = [&](const std::vector<const AnsweredAgain*>& shown) {
    return fmt::format(
        "{} of {} requests that both builds were shown; {} of {} walked again "
        "differ each time; one: {}",
        Grouped(all.count), Grouped(verdict.answers.compared), shown.size(), again.size(),
        DifferenceText(*shown.front()));
  };
  AddShown(sides, what, Shown(again), text, verdict);
}

// Names up to three requests.
std::string NamesOf(const std::vector<const AnsweredAgain*>& all) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(all.size(), kNamed); i++)
    text += (text.empty() ? "" : ", ") + all[i]->name;
  return all.size() > kNamed ? fmt::format("{} and {} more", text, all.size() - kNamed) : text;
}

void CheckCorpora(const GateSides& sides, GateVerdict& verdict) {
  const std::vector<AnsweredAgain> different = sides.answers.corpora();
  const auto text = [](const std::vector<const AnsweredAgain*>& all) {
    return fmt::format("{}: {}; the first: {}", Counted(all.size(), "request"), NamesOf(all),
                       DifferenceText(*all.front()));
  };
  AddShown(sides, "requests of the corpora", Shown(different), text, verdict);
}

}  // namespace

void CheckAnswers(const GateSides& sides, GateVerdict& verdict) {
  if (sides.answers.structs)
    for (const LostStruct& lost : sides.answers.structs())
      AddChange({GateKind::kLostStruct, lost.entry, lost.details}, sides.policy, verdict);
  if (sides.answers.corpora) CheckCorpora(sides, verdict);
  AnswerClasses classes;
  const RunsBySeed before = BySeed(sides.baseline), now = BySeed(sides.candidate);
  for (const auto& [seed, runs] : before)
    if (const auto at = now.find(seed); at != now.end())
      CompareSeed(seed, runs, at->second, verdict.answers, classes);
  if (!before.empty() && !now.empty() && verdict.answers.compared == 0)
    verdict.notes.push_back(
        "no request was shown to both builds, so answers were not compared one by one");
  if (classes.empty()) return;
  if (!sides.answers.again) {
    uint64_t different = 0;
    for (const auto& [codes, all] : classes) different += all.count;
    verdict.notes.push_back(fmt::format(
        "{} of {} requests were answered differently; replays on both JDKs (--replay) tell which "
        "of them always are",
        Grouped(different), Grouped(verdict.answers.compared)));
    return;
  }
  std::vector<DifferentAnswer> requests;
  for (const auto& [codes, all] : classes)
    requests.insert(requests.end(), all.requests.begin(), all.requests.end());
  const std::vector<AnsweredAgain> again = sides.answers.again(requests);
  size_t at = 0;
  for (const auto& [codes, all] : classes) {
    const size_t end = std::min(again.size(), at + all.requests.size());
    AddClass(sides, codes, all,
             {again.begin() + static_cast<std::ptrdiff_t>(std::min(at, end)),
              again.begin() + static_cast<std::ptrdiff_t>(end)},
             verdict);
    at += all.requests.size();
  }
}

}  // namespace walkhammer
