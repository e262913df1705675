// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/builds/answer_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "harness/findings/crash_folder.h"
#include "harness/generate/request_window.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

using std::chrono::steady_clock;

constexpr auto kMostBootTime = std::chrono::minutes(3);

// Starts a child that has the campaign's vocabulary, and walks one request.
Result<std::unique_ptr<SharedMapping>> VocabularyOf(const CampaignSource& source,
                                                    const ChildSetup& setup) {
  ASSIGN_OR_RETURN(auto shared, SharedMapping::Create());
  SharedState& state = shared->state();
  state.job.mode = ChildMode::kFuzz;
  state.job.walker = source.walker;
  state.job.seed = source.seed;
  state.job.scene_mask = source.scene_mask;
  state.job.max_walks = 1;
  state.job.hang_limit_ms = 100;
  ASSIGN_OR_RETURN(auto child, ChildProcess::Start(*shared, setup));
  const auto until = steady_clock::now() + kMostBootTime;
  while (!child->HasEnded() && steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (state.phase.load() == ChildPhase::kUnable) return Unable(FieldText(state.message));
  if (state.vocabulary_ready.load() == 0 || state.phase.load() < ChildPhase::kRunning)
    return ToolFailed("no JVM could be started to make the requests again");
  return shared;
}

// The scene of each window, in turn.
std::vector<uint8_t> ScenesInTurn(const SharedState& state) {
  std::vector<uint8_t> scenes;
  for (int i = 0; i < kMaxScenes; i++)
    if (state.scenes[i].tried != 0 && state.scenes[i].available)
      scenes.push_back(static_cast<uint8_t>(i));
  return scenes;
}

BuildAnswer AnswerOf(const ReplayOutcome& outcome) {
  BuildAnswer answer;
  for (const FindingRecord& finding : outcome.findings)
    answer.grade = std::max(answer.grade, finding.grade);
  if (!outcome.returned)  // the last finding is how it ended
    answer.text = outcome.findings.empty() ? "" : outcome.findings.back().signature.title;
  else if (outcome.num_frames <= 0)
    answer.text = fmt::format("code {}", outcome.num_frames);
  else
    answer.text = fmt::format("{} frames\n{}", outcome.num_frames, outcome.frames);
  return answer;
}

// A build, and the process of it that all requests share.
struct Side {
  const ChildSetup* setup;
  std::unique_ptr<ReplayRun> run = nullptr;
  bool is_new = false;  // the process was started for this request
  BuildAnswer answer = {};

  // Starts the process with `request`, unless there is one.
  void Start(const ReplayInput& request) {
    is_new = run == nullptr;
    if (!is_new) return;
    auto started = ReplayRun::Start(request, *setup, true);
    if (started.ok()) run = std::move(started.value());
  }
  void Ask(const ReplayInput& request, const std::function<bool()>& stop) {
    answer = {};
    if (run == nullptr) return;
    const auto outcome = is_new ? run->Wait(stop) : run->WalkText(request.text, request.name, stop);
    if (outcome.ok()) answer = AnswerOf(outcome.value());
  }
};

// The answers of one process of each build, by request. The JVMs boot side by side; the build that
// is asked first also boots first.
std::vector<BothAnswers> AnswersOnce(const std::vector<ReplayInput>& requests,
                                     const ChildSetup& baseline, const ChildSetup& candidate,
                                     bool candidate_first, const std::function<bool()>& stop) {
  std::vector<BothAnswers> answers(requests.size());
  Side before{&baseline}, now{&candidate};
  Side &first = candidate_first ? now : before, &second = candidate_first ? before : now;
  for (size_t i = 0; i < requests.size() && !stop(); i++) {
    first.Start(requests[i]);
    second.Start(requests[i]);
    first.Ask(requests[i], stop);
    second.Ask(requests[i], stop);
    answers[i] = {before.answer, now.answer};
  }
  return answers;
}

}  // namespace

Result<std::vector<std::string>> RequestTexts(const CampaignSource& source,
                                              const std::vector<NumberedRequest>& requests,
                                              const ChildSetup& setup) {
  ASSIGN_OR_RETURN(const auto shared, VocabularyOf(source, setup));
  const SharedState& state = shared->state();
  const std::vector<uint8_t> scenes = ScenesInTurn(state);
  const std::vector<uint64_t> names = NameHashes(state.symbols);
  const WindowSource windows{state.vocabulary, names, source.seed, source.walker, UINT32_MAX};
  std::map<uint64_t, std::vector<size_t>> by_window;
  for (size_t i = 0; i < requests.size(); i++)
    by_window[requests[i].number / kWalksPerWindow].push_back(i);
  std::vector<std::string> texts(requests.size());
  for (const auto& [number, wanted] : by_window) {
    if (scenes.empty()) break;
    RequestWindow window(windows, scenes[number % scenes.size()], number);
    for (uint64_t at = 0; at < kWalksPerWindow; at++) {
      const WalkRequest& request = window.Next();
      for (const size_t i : wanted)
        if (requests[i].number % kWalksPerWindow == at &&
            static_cast<uint32_t>(window.hash() >> 32) == requests[i].hash)
          texts[i] = ToText({request, "", setup.platform.arch}, state.symbols);
    }
  }
  return texts;
}

std::vector<BothAnswers> DifferentEachTime(size_t requests, int times, const AskBoth& ask,
                                           uint64_t& compared) {
  struct Steady {
    bool baseline = true, candidate = true;
  };
  std::vector<BothAnswers> different(requests);
  std::vector<Steady> is_steady(requests);
  std::vector<size_t> open;  // requests whose answers differed each time so far
  for (size_t i = 0; i < requests; i++) open.push_back(i);
  for (int time = 0; time < times && !open.empty(); time++) {
    const std::vector<BothAnswers> answers = ask(open, time % 2 != 0);
    std::vector<size_t> still;
    for (size_t k = 0; k < open.size(); k++) {
      if (time == 0 && answers[k].Both()) compared++;
      BothAnswers& before = different[open[k]];
      Steady& steady = is_steady[open[k]];
      if (time > 0) {
        steady.baseline &= answers[k].baseline == before.baseline;
        steady.candidate &= answers[k].candidate == before.candidate;
      }
      const bool differs = answers[k].Differ() && (steady.baseline || steady.candidate);
      before = differs ? answers[k] : BothAnswers{};
      if (differs) still.push_back(open[k]);
    }
    open = std::move(still);
  }
  return different;
}

std::vector<BothAnswers> DifferentAnswers(const std::vector<ReplayInput>& requests,
                                          const ChildSetup& baseline, const ChildSetup& candidate,
                                          int times, const std::function<bool()>& stop,
                                          uint64_t& compared) {
  const AskBoth ask = [&](const std::vector<size_t>& open, bool candidate_first) {
    std::vector<ReplayInput> inputs;
    for (const size_t i : open) inputs.push_back(requests[i]);
    return AnswersOnce(inputs, baseline, candidate, candidate_first, stop);
  };
  auto different = DifferentEachTime(requests.size(), times, ask, compared);
  return stop() ? std::vector<BothAnswers>(requests.size()) : different;
}

}  // namespace walkhammer
