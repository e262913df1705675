// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/gate_jdks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "harness/base/names.h"
#include "harness/base/text.h"
#include "harness/bugs/bug_store.h"
#include "harness/cli/run_jdk.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk.h"
#include "harness/jvm/images/struct_contract.h"
#include "harness/process/interrupt.h"
#include "harness/process/spawn.h"
#include "harness/request/lookup.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// Processes of each JDK in which answers must differ. Answers that depend on the process, such as
// on what an earlier call left on the stack, agree by chance in one.
// Answers that go either way, such as by what was compiled first, differ six times by chance; all
// requests of a process may do so together.
constexpr int kAnswerTimes = 16;
constexpr int kReplayJobs = 2;  // processes at a time

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
  for (const RunRow& run : baseline.runs)
    for (const std::string& walker : Split(run.identity.walker, ',')) both->walkers_.insert(walker);
  for (const std::string& name : baseline.scenes)
    if (const auto scene = SceneNamed(name); scene.ok()) both->scene_mask_ |= 1U << scene.value();
  for (const GateSide* side : {&baseline, &candidate}) {
    const RunIdentity& run = side->runs.front().identity;
    ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(run.jdk_path));
    both->homes_[both->sides_.size()] = jdk.home;
    both->sides_.push_back(SetupOfRun(run, jdk, run.jvm_flags, both->scratch_.path()));
    both->fixed_.push_back(both->sides_.back());
    both->fixed_.back().aslr = !CanSwitchAslrOff();
  }
  return both;
}

std::optional<ReplayCounts> GateJdks::Replayed(const std::string& path) const {
  const auto walk = ReadWalkFile(path);
  if (!walk.ok()) return std::nullopt;
  const auto before = TimesShown(walk.value(), path, sides_[0], options_.times, kReplayJobs);
  if (!before) return std::nullopt;
  const auto now = TimesShown(walk.value(), path, sides_[1], options_.times, kReplayJobs);
  return now ? std::optional(ReplayCounts{options_.times, *before, *now}) : std::nullopt;
}

std::string GateJdks::Keep(const AnsweredAgain& answers) const {
  if (options_.keep.empty()) return "";
  std::string name = answers.name;
  std::replace(name.begin(), name.end(), '/', '_');
  const std::string path = options_.keep + "/" + name;
  std::error_code error;
  fs::create_directories(options_.keep, error);
  return !error && WriteFileAtomically(path, answers.walk).ok() ? path : "";
}

void GateJdks::Add(const std::string& walker, std::string text, std::string name, size_t place,
                   AskedByWalker& asked) const {
  ReplayInput input{std::move(text), std::move(name)};
  input.scenes = scene_mask_;
  asked[walker].inputs.push_back(std::move(input));
  asked[walker].places.push_back(place);
}

std::vector<AnsweredAgain> GateJdks::Answers(const AskedByWalker& asked, size_t count,
                                             uint64_t& compared) const {
  std::vector<AnsweredAgain> answers(count);
  for (const auto& [walker, of] : asked) {
    const auto different =
        DifferentAnswers(of.inputs, fixed_[0], fixed_[1], kAnswerTimes, IsInterrupted, compared);
    for (size_t i = 0; i < different.size(); i++) {
      AnsweredAgain& answer = answers[of.places[i]];
      answer.name = of.inputs[i].name;
      if (!different[i].Differ()) continue;
      const BuildAnswer &before = different[i].baseline, &now = different[i].candidate;
      const int worse = (now.grade > before.grade ? 1 : 0) - (now.grade < before.grade ? 1 : 0);
      answer = {before.text, now.text, worse, answer.name, of.inputs[i].text};
    }
  }
  return answers;
}

std::vector<AnsweredAgain> GateJdks::Again(const std::vector<DifferentAnswer>& requests) const {
  std::map<std::pair<std::string, uint64_t>, std::vector<size_t>> campaigns;
  for (size_t i = 0; i < requests.size(); i++)
    campaigns[{requests[i].walker, requests[i].seed}].push_back(i);
  AskedByWalker asked;
  for (const auto& [campaign, wanted] : campaigns) {
    const auto& [walker, seed] = campaign;
    const auto index = FindWalker(walker);
    if (!index) continue;
    std::vector<NumberedRequest> numbers;
    for (const size_t i : wanted) numbers.push_back({requests[i].number, requests[i].hash});
    const auto texts =
        RequestTexts({static_cast<uint8_t>(*index), seed, scene_mask_}, numbers, fixed_[0]);
    for (size_t k = 0; texts.ok() && k < wanted.size(); k++)
      if (!texts.value()[k].empty())
        Add(walker, texts.value()[k],
            fmt::format("{}-seed-{}-request-{}.walk", walker, seed, numbers[k].number), wanted[k],
            asked);
  }
  uint64_t compared = 0;
  return Answers(asked, requests.size(), compared);
}

std::vector<AnsweredAgain> GateJdks::Corpora(uint64_t& compared) const {
  std::vector<std::string> folders;
  for (const char* name : {"seeds", "regressions", kKnownIssuesName})
    folders.push_back(BesideExecutable(name));
  if (!options_.bugs.empty()) folders.push_back(options_.bugs);
  AskedByWalker asked;
  size_t count = 0;
  for (const std::string& folder : folders)
    for (const std::string& path : WalkFilesBelow(folder)) {
      auto walk = ReadWalkFile(path);
      if (!walk.ok()) continue;
      const std::string walker = AllWalkers()[walk.value().file.request.walker].name;
      if (walkers_.contains(walker))
        Add(walker, std::move(walk.value().text),
            fs::path(path).lexically_relative(fs::path(folder).parent_path()), count++, asked);
    }
  std::vector<AnsweredAgain> answers = Answers(asked, count, compared);
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
