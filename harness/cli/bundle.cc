// SPDX-License-Identifier: Apache-2.0
// bundle: what to attach to a bug report, made of a crash folder or a .walk file.
#include "harness/supervise/builds/bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/base/print.h"
#include "harness/cli/crash_file.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/crash_folder.h"
#include "harness/jvm/images/jdk_choice.h"
#include "harness/process/interrupt.h"
#include "harness/process/scratch.h"
#include "harness/request/text_form.h"
#include "harness/supervise/builds/replay_tally.h"
#include "harness/supervise/minimize_input.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

struct BundleOptions {
  std::string path, out;
  std::vector<std::string> jdks, folders, profiles;
  uint64_t times = 5, jobs = 2;
  bool keep = false, json = false;
};

// What is bundled, before any replay.
struct BundleSource {
  ReplayInput input;                // canonical text
  std::string expect;               // may be empty
  std::string arch;                 // empty: any
  std::string explanation, hs_err;  // the crash folder's; may be empty
};

// `path`: a .walk file, or a crash folder, whose minimized request is preferred.
Result<BundleSource> ReadSource(const std::string& path) {
  BundleSource source;
  std::string walk = path;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    walk = path + "/" + kMinimizedName;
    if (!fs::exists(walk, error)) {
      ASSIGN_OR_RETURN(walk, WalkPathOf(path));
    }
    for (auto& [name, text] :
         {std::pair{kExplainName, &source.explanation}, std::pair{kHsErrName, &source.hs_err}}) {
      const std::string file = path + "/" + name;
      if (!fs::exists(file, error)) continue;
      ASSIGN_OR_RETURN(*text, ReadCrashText(file));
    }
  }
  ASSIGN_OR_RETURN(const LoadedWalk read, ReadWalkFile(walk));
  source.input = {ToText(read.file, *read.symbols), walk};
  source.expect = read.file.expect;
  source.arch = read.file.arch;
  return source;
}

class BundleMaker {
 public:
  BundleMaker(const BundleOptions& options, BundleSource source, std::vector<Build> builds,
              const std::string& scratch)
      : options_(options),
        source_(std::move(source)),
        builds_(std::move(builds)),
        scratch_(scratch) {}

  Result<BundleCase> Make() {
    ASSIGN_OR_RETURN(const Build* const shown, FindBuild());
    content_.explanation = source_.explanation;
    content_.hs_err = source_.hs_err;
    content_.tool_version = WALKHAMMER_VERSION;
    content_.shown_on = shown->label;
    content_.flags = shown->flags;
    RETURN_IF_ERROR(Shrink(*shown));
    for (const Build& build : builds_) {
      Print(stderr, "walkhammer: replaying on {}, {}\n", build.label, build.profile);
      content_.rows.push_back({build, Replay(build)});
      const auto& example = content_.rows.back().tally.example;
      if (example && &build == shown) content_.finding = *example;
    }
    if (Interrupted().load()) return ToolFailed("interrupted before all replays ran");
    return std::move(content_);
  }

 private:
  ReplayTally Replay(const Build& build) const {
    ReplayPlan plan{source_.expect, static_cast<int>(options_.times),
                    static_cast<int>(options_.jobs)};
    plan.most_unable = 2;
    plan.stop = [] { return Interrupted().load(); };
    return ReplayTimes(source_.input, SetupOf(build, scratch_), plan);
  }

  // The first build that shows the finding; its signature becomes `expect` if there was none.
  Result<const Build*> FindBuild() {
    std::string unable;
    ExitCode code = ExitCode::kUnable;
    int walked = 0;
    for (const Build& build : builds_) {
      const ReplayTally tally = Replay(build);
      walked += tally.walked();
      if (tally.walked() == 0) {
        unable = tally.unable_reason;
        code = std::max(code, tally.unable_code);
      }
      if (!tally.example) continue;
      reliable_ = tally.reproduced == tally.times;
      content_.finding = *tally.example;
      if (source_.expect.empty()) source_.expect = tally.example->signature.expect;
      return &build;
    }
    if (Interrupted().load()) return ToolFailed("interrupted before all replays ran");
    if (walked == 0)
      return Failure{code, fmt::format("none of the {} builds could walk {}: {}", builds_.size(),
                                       source_.input.name, unable)};
    const std::string what = source_.expect.empty() ? "any finding" : source_.expect;
    return BadInput(
        fmt::format("{} does not show {} on any of the {} builds, so there is nothing "
                    "to report{}",
                    source_.input.name, what, builds_.size(),
                    unable.empty() ? "" : "; one could not walk it: " + unable));
  }

  // Makes the request smaller if it replays each time.
  Status Shrink(const Build& build) {
    content_.walk = WithExpect();
    content_.minimized = "The request is as it was found.";
    if (!options_.keep && reliable_) {
      Print(stderr, "walkhammer: minimising on {}\n", build.label);
      MinimizePlan plan;
      plan.jobs = static_cast<int>(options_.jobs);
      plan.stop = [] { return Interrupted().load(); };
      const auto small =
          MinimizeInput({content_.walk, source_.input.name}, SetupOf(build, scratch_), plan);
      if (small.ok() && small.value().proved) {
        content_.walk = small.value().text;
        source_.expect = small.value().expect;
        content_.minimized = fmt::format(
            "The request is minimised (edits of the stack: {} before, {} now) and "
            "replayed {} of {} times in fresh processes.",
            small.value().edits_before, small.value().edits, plan.times, plan.times);
      } else {
        content_.minimized += " It could not be minimised.";
        Print(stderr, "walkhammer: not minimised: {}\n",
              small.ok() ? "interrupted" : small.failure().message);
      }
    } else if (!reliable_) {
      content_.minimized += " It does not replay each time, so it was not minimised.";
    }
    source_.input.text = content_.walk;
    return Ok();
  }

  // The request with what is expected of it.
  std::string WithExpect() const {
    LoadedWalk walk = std::move(ParseWalk(source_.input.text, source_.input.name).value());
    walk.file.expect = source_.expect;
    return ToText(walk.file, *walk.symbols);
  }

  const BundleOptions& options_;
  BundleSource source_;
  std::vector<Build> builds_;
  std::string scratch_;
  bool reliable_ = false;
  BundleCase content_;
};

Result<std::vector<Build>> FittingBuilds(const BundleOptions& options, const std::string& arch,
                                         const std::vector<std::string>& jvm_flags) {
  ASSIGN_OR_RETURN(const auto jdks, OpenJdks(options.jdks, options.folders));
  std::vector<Jdk> fitting;
  for (const Jdk& jdk : jdks)
    if (arch.empty() || jdk.arch == arch) fitting.push_back(jdk);
  if (fitting.empty())
    return Unable(fmt::format("the request is for {}: name a JDK for it by --jdk", arch));
  ASSIGN_OR_RETURN(const auto profiles, SelectProfiles(options.profiles));
  return BuildsOf(fitting, profiles, jvm_flags);
}

Result<ExitCode> RunBundle(const BundleOptions& options,
                           const std::vector<std::string>& jvm_flags) {
  if (options.out.empty()) return BadInput("--out DIR says where the bundle goes");
  std::error_code error;
  if (fs::exists(options.out, error) && !fs::is_empty(options.out, error))
    return BadInput(options.out + " is not empty: name a new folder by --out");
  ASSIGN_OR_RETURN(const auto source, ReadSource(options.path));
  ASSIGN_OR_RETURN(const auto builds, FittingBuilds(options, source.arch, jvm_flags));
  ScratchFolder scratch;
  RETURN_IF_ERROR(scratch.made());
  ASSIGN_OR_RETURN(const auto content, BundleMaker(options, source, builds, scratch.path()).Make());
  ASSIGN_OR_RETURN(const auto files, BundleFiles(content));
  RETURN_IF_ERROR(WriteBundle(options.out, files));
  nlohmann::json names = nlohmann::json::array();
  for (const BundleFile& file : files) {
    names.push_back(file.name);
    if (!options.json) Print(stdout, "{}/{}\n", options.out, file.name);
  }
  if (options.json)
    PrintJson({{"schema", 1},
               {"out", options.out},
               {"signature", content.finding.signature.expect},
               {"files", names}});
  Print(stderr, "walkhammer: read report.md and redacted.txt before you send the bundle\n");
  return ExitCode::kFindings;
}

}  // namespace

void AddBundle(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "bundle",
            "Collect what to attach to a bug report, and remove personal data from it");
  auto o = std::make_shared<BundleOptions>();
  verb.Argument("path", o->path, "A crash folder of a run (RUN/crashes/...), or a .walk file");
  verb.Jdks(o->jdks);
  verb.JdkFolders(o->folders);
  verb.Profiles(o->profiles);
  verb.Text("--out", o->out, "A new folder for the bundle", "DIR");
  verb.Count("--times", o->times,
             "Fresh processes in which to replay a request on each build (default: 5)", 1, 100000);
  verb.Jobs(o->jobs, "2");
  verb.Flag("--no-minimize", o->keep, "Do not minimise requests");
  verb.Json(o->json);
  verb.Runs(chosen, o, RunBundle);
}

}  // namespace walkhammer
