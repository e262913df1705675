// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_jdks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/base/text.h"
#include "harness/bugs/bug_store.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk.h"
#include "harness/jvm/images/struct_contract.h"
#include "harness/process/interrupt.h"
#include "harness/process/spawn.h"
#include "harness/request/lookup.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/builds/replay_tally.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// Processes of each JDK in which answers must differ. Answers that depend on the process, such as
// on what an earlier call left on the stack, agree by chance in one.
constexpr int kAnswerTimes = 6;

bool IsInterrupted() { return Interrupted().load(); }

// The .walk files in the folder and those below, in the order of their paths.
std::vector<std::string> WalkFilesBelow(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (at->path().extension() == ".walk") paths.push_back(at->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Result<std::shared_ptr<GateJdks>> GateJdks::Open(const GateSide& baseline,
                                                 const GateSide& candidate,
                                                 const GateJdkOptions& options) {
  auto both = std::make_shared<GateJdks>();
  both->options_ = options;
  RETURN_IF_ERROR(both->scratch_.made());
  both->walker_ = baseline.runs.front().identity.walker;
  for (const std::string& name : baseline.scenes)
    if (const auto scene = SceneNamed(name); scene.ok()) both->scene_mask_ |= 1U << scene.value();
  for (const GateSide* side : {&baseline, &candidate}) {
    const RunIdentity& run = side->runs.front().identity;
    ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(run.jdk_path));
    both->homes_[both->sides_.size()] = jdk.home;
    ChildSetup setup{jdk.libjvm, jdk.platform, Words(run.jvm_flags), true, both->scratch_.path()};
    if (run.provider.find('/') != std::string::npos) setup.provider = run.provider;
    both->sides_.push_back(std::move(setup));
  }
  return both;
}

std::optional<ReplayCounts> GateJdks::Replayed(const std::string& path) const {
  const auto walk = ReadWalkFile(path);
  if (!walk.ok()) return std::nullopt;
  ReplayPlan plan{walk.value().file.expect, options_.times};
  plan.most_unable = 1;
  plan.stop = IsInterrupted;
  ReplayCounts counts{options_.times, 0, 0};
  for (size_t side = 0; side < sides_.size(); side++) {
    const ReplayTally tally = ReplayTimes({walk.value().text, path}, sides_[side], plan);
    if (tally.walked() < options_.times) return std::nullopt;
    (side == 0 ? counts.baseline : counts.candidate) = tally.reproduced;
  }
  return counts;
}

std::string GateJdks::Keep(const ReplayInput& input) const {
  if (options_.keep.empty()) return "";
  const std::string path = options_.keep + "/" + fs::path(input.name).filename().string();
  std::error_code error;
  fs::create_directories(options_.keep, error);
  return !error && WriteFileAtomically(path, input.text).ok() ? path : "";
}

std::vector<AnsweredAgain> GateJdks::Answers(const std::vector<ReplayInput>& inputs) const {
  std::vector<ChildSetup> sides = sides_;
  for (ChildSetup& side : sides) side.aslr = !CanSwitchAslrOff();  // as the runs had it
  const auto different = DifferentAnswers(inputs, sides[0], sides[1], kAnswerTimes, IsInterrupted);
  std::vector<AnsweredAgain> answers(inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!different[i].Differ()) continue;
    const BuildAnswer &before = different[i].baseline, &now = different[i].candidate;
    const int worse = (now.grade > before.grade ? 1 : 0) - (now.grade < before.grade ? 1 : 0);
    answers[i] = {before.text, now.text, worse, inputs[i].name, Keep(inputs[i])};
  }
  return answers;
}

std::vector<AnsweredAgain> GateJdks::Again(const std::vector<DifferentAnswer>& requests) const {
  std::vector<AnsweredAgain> answers(requests.size());
  const auto walker = FindWalker(walker_);
  if (!walker) return answers;
  std::map<uint64_t, std::vector<size_t>> by_seed;
  for (size_t i = 0; i < requests.size(); i++) by_seed[requests[i].seed].push_back(i);
  std::vector<ReplayInput> inputs;
  std::vector<size_t> places;
  for (const auto& [seed, wanted] : by_seed) {
    std::vector<NumberedRequest> numbers;
    for (const size_t i : wanted) numbers.push_back({requests[i].number, requests[i].hash});
    ChildSetup setup = sides_[0];
    setup.aslr = !CanSwitchAslrOff();
    const auto texts =
        RequestTexts({static_cast<uint8_t>(*walker), seed, scene_mask_}, numbers, setup);
    if (!texts.ok()) continue;
    for (size_t k = 0; k < wanted.size(); k++) {
      if (texts.value()[k].empty()) continue;
      places.push_back(wanted[k]);
      inputs.push_back({texts.value()[k],
                        fmt::format("seed-{}-request-{}.walk", seed, requests[wanted[k]].number)});
      inputs.back().scenes = scene_mask_;
    }
  }
  const std::vector<AnsweredAgain> again = Answers(inputs);
  for (size_t i = 0; i < places.size(); i++) answers[places[i]] = again[i];
  return answers;
}

std::vector<AnsweredAgain> GateJdks::Corpora() const {
  std::vector<std::string> folders;
  for (const char* name : {"seeds", "regressions", kKnownIssuesName})
    folders.push_back(BesideExecutable(name));
  if (!options_.bugs.empty()) folders.push_back(options_.bugs);
  std::vector<ReplayInput> inputs;
  for (const std::string& folder : folders)
    for (const std::string& path : WalkFilesBelow(folder)) {
      auto walk = ReadWalkFile(path);
      if (!walk.ok() || AllWalkers()[walk.value().file.request.walker].name != walker_) continue;
      inputs.push_back({std::move(walk.value().text), fs::path(path).filename()});
      inputs.back().scenes = scene_mask_;
    }
  std::vector<AnsweredAgain> answers = Answers(inputs);
  std::erase_if(answers, [](const AnsweredAgain& both) { return both.baseline.empty(); });
  return answers;
}

std::vector<LostStruct> GateJdks::Structs() const {
  std::vector<LostStruct> lost;
  const auto changes = LostStructs(homes_[0], homes_[1]);
  if (!changes.ok()) return lost;  // such as a JVM without these tables
  for (const StructChange& change : changes.value()) {
    const std::string details = fmt::format("{} ({}) reads it; {}{}{}", change.reader,
                                            change.feature, StructChangeWord(change.what),
                                            change.details.empty() ? "" : ": ", change.details);
    if (!lost.empty() && lost.back().entry == change.entry)
      lost.back().details += "; " + details;
    else
      lost.push_back({change.entry, details});
  }
  return lost;
}

}  // namespace walkhammer
