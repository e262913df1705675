// SPDX-License-Identifier: Apache-2.0
// gate: compares the runs of two builds of a JVM, from their folders alone.
#include "reports/gate.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "harness/base/print.h"
#include "harness/base/text.h"
#include "harness/bugs/bug_store.h"
#include "harness/cli/gate.h"
#include "harness/cli/gate_corpora.h"
#include "harness/cli/gate_jdks.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/output_file.h"
#include "harness/cli/provider.h"
#include "harness/jvm/images/jdk.h"
#include "harness/jvm/images/jdk_version.h"
#include "harness/process/interrupt.h"
#include "harness/request/scene_table.h"
#include "reports/gate_side.h"

namespace walkhammer {
namespace {

// A run that is given twice would count twice, and say that runs do not differ.
Status EachOnce(const GateSide& baseline, const GateSide& candidate) {
  std::map<std::string, std::string> holders;  // folder by run id
  for (const GateSide* side : {&baseline, &candidate})
    for (size_t i = 0; i < side->runs.size(); i++) {
      const auto [at, is_new] = holders.try_emplace(side->runs[i].identity.run_id, side->dirs[i]);
      if (!is_new)
        return BadInput(
            fmt::format("{}: is given twice: {} holds the same run", side->dirs[i], at->second));
    }
  return Ok();
}

// True for builds of one release, such as 25.0.3+8 and 25.0.3+9, or if nobody knows.
bool SameRelease(const GateSide& baseline, const GateSide& candidate) {
  const auto version = [](const GateSide& side) {
    return ParseJdkVersion(VersionOfVm(side.runs.front().identity.vm_version));
  };
  const auto before = version(baseline), now = version(candidate);
  return !before || !now || before->numbers == now->numbers;
}

Status CheckBuildGoesWithBugs(const GateOptions& options) {
  if (options.judging.bugs.empty() && !options.build.empty())
    return BadInput("--build goes with --bugs");
  return CheckBuild(options.build);
}

// Looks up what both sides found.
Status NameBuckets(const GateOptions& options, GateSide& baseline, GateSide& candidate) {
  RETURN_IF_ERROR(CheckBuildGoesWithBugs(options));
  ASSIGN_OR_RETURN(const Judging judging, ReadJudging(options.judging));
  const auto version = [](const GateSide& side) {
    return VersionOfVm(side.runs.front().identity.vm_version);
  };
  const std::string now = options.build.empty() ? version(candidate) : options.build;
  RETURN_IF_ERROR(ReadBugWords(*judging.known, judging.today, "", now, baseline));
  return ReadBugWords(*judging.known, judging.today, options.build, version(baseline), candidate);
}

// What was found of the JDKs before.
void AskCorpora(const GateCorpora& corpora, GateAnswers& answers) {
  answers.corpora = [corpora] { return corpora.answers; };
  answers.structs = [corpora] { return corpora.structs; };
}

Result<GateVerdict> Judge(const GateOptions& options) {
  if (options.baseline.empty() || options.candidate.empty())
    return BadInput("gate takes at least one --baseline RUN and one --candidate RUN");
  ASSIGN_OR_RETURN(const GatePolicy policy, PolicyOf(options));
  ASSIGN_OR_RETURN(GateSide baseline, ReadGateSide(options.baseline));
  ASSIGN_OR_RETURN(GateSide candidate, ReadGateSide(options.candidate));
  RETURN_IF_ERROR(EachOnce(baseline, candidate));
  RETURN_IF_ERROR(NameBuckets(options, baseline, candidate));
  GateReplay replay;
  GateAnswers answers;
  answers.same_release = SameRelease(baseline, candidate);
  if (options.replays > 0) {
    ASSIGN_OR_RETURN(const auto jdks, GateJdks::Open(baseline, candidate,
                                                     {static_cast<int>(options.replays),
                                                      options.judging.bugs, options.keep}));
    replay = [jdks](const std::string& input) { return jdks->Replayed(input); };
    answers.again = [jdks](const auto& requests) { return jdks->Again(requests); };
    answers.corpora = [jdks] {
      uint64_t compared = 0;
      return jdks->Corpora(compared);
    };
    answers.keep = [jdks](const AnsweredAgain& request) { return jdks->Keep(request); };
    answers.structs = [jdks] { return jdks->Structs(); };
  }
  if (!options.corpora.empty()) {
    ASSIGN_OR_RETURN(const GateCorpora corpora, ReadGateCorpora(options.corpora));
    AskCorpora(corpora, answers);
  }
  return JudgeGate(baseline, candidate, policy, replay, answers);
}

// A side without runs: the JDK, and what is walked in it.
Result<GateSide> SideOf(const std::string& path, const std::vector<std::string>& walkers) {
  ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(path));
  std::vector<std::string> names = walkers;
  ASSIGN_OR_RETURN(const std::string library, TakePlugin(names, ""));
  ASSIGN_OR_RETURN(const ProviderChoice provider, ProviderNamed(library));
  ASSIGN_OR_RETURN(const auto indexes, WalkersNamed(names, provider));
  GateSide side;
  RunRow run;
  run.identity = OwnIdentity();
  run.identity.jdk_path = jdk.home;
  run.identity.vm_version = jdk.version;
  run.identity.provider = library;
  run.identity.walker = WalkerNames(indexes, ",");
  side.runs.push_back(run);
  for (const SceneInfo& scene : AllScenes()) side.scenes.insert(scene.name);
  return side;
}

// Without runs: what both JDKs answer to the corpora, for once.
Result<GateVerdict> JudgeJdks(const GateOptions& options) {
  if (options.jdks.size() != 2)
    return BadInput("gate takes --jdk twice: the baseline's and the candidate's");
  if (!options.baseline.empty() || !options.candidate.empty())
    return BadInput("gate takes runs or --jdk, not both");
  ASSIGN_OR_RETURN(const GatePolicy policy, PolicyOf(options));
  ASSIGN_OR_RETURN(const GateSide baseline, SideOf(options.jdks[0], options.walkers));
  ASSIGN_OR_RETURN(const GateSide candidate, SideOf(options.jdks[1], options.walkers));
  ASSIGN_OR_RETURN(const auto jdks,
                   GateJdks::Open(baseline, candidate, {1, options.judging.bugs, options.keep}));
  uint64_t compared = 0;
  const GateCorpora corpora{jdks->Corpora(compared), jdks->Structs()};
  if (Interrupted().load()) return ToolFailed("interrupted before the corpora were replayed");
  if (!options.corpora.empty() && compared > 0)
    RETURN_IF_ERROR(WriteGateCorpora(options.corpora, corpora));
  GateAnswers answers;
  answers.same_release = SameRelease(baseline, candidate);
  answers.keep = [jdks](const AnsweredAgain& request) { return jdks->Keep(request); };
  AskCorpora(corpora, answers);
  return JudgeJdkImages(baseline, candidate, policy, answers, compared);
}

// A policy and a store without runs: whether they can be used.
Status CheckFiles(const GateOptions& options) {
  RETURN_IF_ERROR(CheckBuildGoesWithBugs(options));
  RETURN_IF_ERROR(PolicyOf(options));
  if (!options.judging.bugs.empty()) RETURN_IF_ERROR(BugStore::Read(options.judging.bugs));
  return Ok();
}

Result<ExitCode> RunGate(const GateOptions& options) {
  if (!options.night.empty()) return RunGateNight(options);
  const bool has_runs = !options.baseline.empty() || !options.candidate.empty();
  const bool has_files =
      !options.policy.empty() || !options.judging.bugs.empty() || !options.build.empty();
  if (!has_runs && has_files && options.jdks.empty() && !options.json) {
    RETURN_IF_ERROR(CheckFiles(options));
    return ExitCode::kClean;
  }
  ASSIGN_OR_RETURN(const GateVerdict verdict,
                   options.jdks.empty() ? Judge(options) : JudgeJdks(options));
  if (!options.markdown.empty())
    RETURN_IF_ERROR(WriteOutput("--markdown", options.markdown, GateMarkdown(verdict)));
  if (options.json)
    Print(stdout, "{}\n", GateJsonText(verdict));
  else
    Print(stdout, "{}", GateText(verdict));
  return verdict.exit;
}

}  // namespace

Result<GatePolicy> PolicyOf(const GateOptions& options) {
  return options.policy.empty() ? GatePolicy() : ReadGatePolicy(options.policy);
}

void AddGate(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "gate",
            "Compare the runs of two builds, or a night with the last green one, and name what "
            "is worse");
  auto o = std::make_shared<GateOptions>();
  verb.Several(
      "--baseline", o->baseline,
      "Runs or nights of the build to compare with; with --night, one night, whatever was found "
      "in it (default: the last green one)",
      "RUN");
  verb.Several("--candidate", o->candidate, "Runs or nights of the build to judge", "RUN");
  verb.Text("--policy", o->policy, "File that says what fails, what warns, and from which size on",
            "FILE.toml");
  AddStores(verb, o->judging);
  verb.Text("--build", o->build, "Version of the build, where all builds report the same one",
            "VERSION");
  verb.Count(
      "--replay", o->replays,
      "Replay what only the candidate's runs found, on both JDKs, in this many processes each "
      "(default with --night: 5)",
      1, 1000);
  verb.Text("--markdown", o->markdown, "Markdown for the page of a CI job; - is stdout", "FILE.md");
  verb.Text("--keep", o->keep,
            "Folder for requests that both JDKs answer differently; goes with --replay or --jdk",
            "DIR");
  verb.Jdks(o->jdks);
  verb.Walkers(o->walkers);
  verb.Text("--corpora-answers", o->corpora,
            "What both JDKs answer to the corpora: written with two --jdk, and read with runs "
            "instead of replaying",
            "FILE.json");
  verb.Needs("--walker", "--jdk");
  verb.Json(o->json);
  verb.Text("--night", o->night, "Judge this night: a folder, as ci/nightly.sh makes it", "DIR");
  verb.Text("--nights", o->nights, "The folder of earlier nights (default: the one that has NIGHT)",
            "DIR");
  verb.Count("--failed", o->failed,
             "How many runs of the night failed; with any, the night is not green (default: 0)");
  verb.Jobs(o->jobs, "2");
  for (const char* option : {"--replay", "--build"}) verb.Excludes("--jdk", option);
  for (const char* option : {"--nights", "--failed", "--jobs"}) verb.Needs(option, "--night");
  for (const char* option :
       {"--candidate", "--build", "--markdown", "--keep", "--jdk", "--corpora-answers"})
    verb.Excludes("--night", option);
  verb.Runs(chosen, o, RunGate);
}

}  // namespace walkhammer
