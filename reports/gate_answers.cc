// SPDX-License-Identifier: Apache-2.0
// The check of the answers to the same requests.
#include "reports/gate_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/base/random.h"
#include "harness/base/text.h"
#include "reports/gate_checks.h"

namespace walkhammer {
namespace {

constexpr uint64_t kEnoughAnswers = 10000;   // of a walker: they need no codes and times
constexpr uint32_t kMostOfClass = 1000;      // requests of a class that are walked again
constexpr uint32_t kMostCrashesOfClass = 5;  // each costs the start of a JVM

// Ended without an answer.
bool IsCrash(const std::string& code) { return code == "crash" || code == "hang"; }

std::string WordOf(const std::string& code) {
  if (code == "frames") return code;
  if (IsCrash(code)) return "a " + code;
  return code == "other" ? "another code" : "code " + code;
}

// Requests with the same two codes.
class AnswerClass {
 public:
  uint64_t count = 0;
  std::vector<DifferentAnswer> requests;  // some of them, each with the same chance

  // Adds one more. `most`: of `requests`. Reservoir sampling: what varies by chance may come first.
  void Add(const DifferentAnswer& request, uint32_t most) {
    count++;
    if (requests.size() < most)
      requests.push_back(request);
    else if (const auto place = random_.Below(static_cast<uint32_t>(count)); place < most)
      requests[place] = request;
  }

 private:
  Random random_{1};
};
using AnswerClasses = std::map<std::pair<std::string, std::string>, AnswerClass>;

// What the runs of a side answered to the request of one number. Steady: those that walked it were
// shown the same request, and answered alike.
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

// Runs whose requests may be the same, by walker and seed.
using Campaigns =
    std::map<std::pair<std::string, uint64_t>, std::vector<const std::vector<Answer>*>>;

Campaigns CampaignsOf(const GateSide& side) {
  Campaigns campaigns;
  for (const auto& [run, answers] : side.answers) {
    const RunIdentity& identity = side.runs[run].identity;
    campaigns[{identity.walker, identity.seed}].push_back(&answers);
  }
  return campaigns;
}

// Compares the runs of both sides with one walker and seed.
void CompareCampaign(const Campaigns::key_type& campaign, const Campaigns::mapped_type& before,
                     const Campaigns::mapped_type& now, GateFamily& compared,
                     AnswerClasses& classes) {
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
    const bool crashes = IsCrash(codes.first) || IsCrash(codes.second);
    classes[codes].Add({campaign.first, campaign.second, number, then.answer.request},
                       crashes ? kMostCrashesOfClass : kMostOfClass);
  }
}

// "12 frames became code -5"; of two stacks the newest frame that differs.
std::string DifferenceText(const AnsweredAgain& answers) {
  const auto before = Split(answers.baseline, '\n'), now = Split(answers.candidate, '\n');
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
  const auto add = [&](GateKind kind, const std::string& name, const auto& answers) {
    if (answers.empty()) return;
    const std::string input = sides.answers.keep ? sides.answers.keep(*answers.front()) : "";
    AddChange({kind, name, text(answers), 0, input}, sides.policy, verdict);
  };
  add(GateKind::kAnswers, what + ", with a more severe finding", shown.worse);
  add(sides.answers.same_release ? GateKind::kAnswers : GateKind::kOtherAnswers, what, shown.other);
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

void CheckRequests(const GateSides& sides, GateVerdict& verdict) {
  const std::vector<AnsweredAgain> different = sides.answers.corpora();
  const auto text = [](const std::vector<const AnsweredAgain*>& all) {
    return fmt::format("{}: {}; the first: {}", Counted(all.size(), "request"), NamesOf(all),
                       DifferenceText(*all.front()));
  };
  AddShown(sides, "requests of the corpora", Shown(different), text, verdict);
}

// Requests that nobody could make again, such as of a run whose settings the gate does not know:
// whether they always differ is unknown.
void CheckUnmade(const std::vector<AnsweredAgain>& again, size_t asked, GateVerdict& verdict) {
  const auto made = std::count_if(again.begin(), again.end(),
                                  [](const AnsweredAgain& one) { return !one.name.empty(); });
  const size_t unmade = asked - static_cast<size_t>(made);
  if (unmade == 0) return;
  const std::string text =
      fmt::format("{} of {} that were answered differently could not be made again to replay them",
                  Grouped(unmade), Counted(asked, "request"));
  if (unmade * 2 < asked)
    verdict.notes.push_back(text);
  else
    verdict.unmade = text;
}

// Answers of a walker are enough for whatever its runs with answers walked.
void NoteAnswered(const GateSides& sides, const std::string& walker, GateVerdict& verdict) {
  NoteData(sides, walker, kAllScenes, 1, verdict);
  for (const auto& [run, answers] : sides.baseline.answers)
    for (const auto& [stratum, codes] : sides.baseline.codes)
      if (stratum.walker == walker && !codes.begin()->second[run].empty())
        NoteData(sides, walker, stratum.workload, 1, verdict);
}

}  // namespace

void CheckCorpora(const GateSides& sides, GateVerdict& verdict) {
  if (sides.answers.structs)
    for (const LostStruct& lost : sides.answers.structs())
      AddChange({GateKind::kLostStruct, lost.entry, lost.details}, sides.policy, verdict);
  if (sides.answers.corpora) CheckRequests(sides, verdict);
}

void CheckAnswers(const GateSides& sides, GateVerdict& verdict) {
  AnswerClasses classes;
  std::map<std::string, uint64_t> compared;  // by walker
  const Campaigns before = CampaignsOf(sides.baseline), now = CampaignsOf(sides.candidate);
  for (const auto& [campaign, runs] : before)
    if (const auto at = now.find(campaign); at != now.end()) {
      const uint64_t others = verdict.answers.compared;
      CompareCampaign(campaign, runs, at->second, verdict.answers, classes);
      compared[campaign.first] += verdict.answers.compared - others;
    }
  for (const auto& [walker, answers] : compared)
    if (answers >= kEnoughAnswers) NoteAnswered(sides, walker, verdict);
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
  CheckUnmade(again, requests.size(), verdict);
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
