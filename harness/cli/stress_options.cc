// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "harness/base/duration.h"
#include "harness/base/shell.h"
#include "harness/cli/identity.h"
#include "harness/cli/provider.h"
#include "harness/cli/shard.h"
#include "harness/request/walker_table.h"
#include "harness/supervise/stress_runs/cell_results.h"

namespace walkhammer {
namespace {

template <typename T>
struct Choice {
  const char* word;
  T value;
};

constexpr Choice<SamplerKind> kSamplers[] = {{"auto", SamplerKind::kAuto},
                                             {"perf", SamplerKind::kPerf},
                                             {"timer", SamplerKind::kTimer},
                                             {"thread", SamplerKind::kThread}};
constexpr Choice<SampleClock> kClocks[] = {{"cpu", SampleClock::kCpu},
                                           {"wall", SampleClock::kWall}};
constexpr Choice<WalkMode> kModes[] = {{"handler", WalkMode::kHandler},
                                       {"parked", WalkMode::kParked},
                                       {"running", WalkMode::kRunning},
                                       {"nested", WalkMode::kNested}};
constexpr Choice<uint8_t> kSteppers[] = {{"trap-flag", kStepByTrapFlag}, {"ptrace", kStepByPtrace}};

template <typename T, size_t kSize>
void Choose(Verb& verb, const char* option, T& value, const Choice<T> (&choices)[kSize],
            const char* what) {
  const auto read = [&value, &choices, option](const std::string& word) -> Status {
    std::string all;
    for (const Choice<T>& choice : choices) {
      if (word == choice.word) {
        value = choice.value;
        return Ok();
      }
      all += std::string(all.empty() ? "" : ", ") + choice.word;
    }
    return BadInput(fmt::format("{} must be one of {}, not \"{}\"", option, all, word));
  };
  std::string words;
  for (const Choice<T>& choice : choices)
    words += std::string(words.empty() ? "" : "|") + choice.word;
  verb.Parsed(option, read, what, words);
}

// A time from 1 ms to 10 min, kept in milliseconds.
void Limit(Verb& verb, const char* option, uint32_t& value, const char* what) {
  const auto read = [&value, option](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(const auto time, ParseDuration(text, option));
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
    if (ms < 1 || ms > 600000)
      return BadInput(fmt::format("{} must be from 1ms to 10m, not \"{}\"", option, text));
    value = static_cast<uint32_t>(ms);
    return Ok();
  };
  verb.Parsed(option, read, what, "TIME");
}

// A text that a field of the job holds, with its final zero.
template <size_t kSize>
void Field(Verb& verb, const char* option, char (&field)[kSize], const char* what) {
  const auto read = [&field, option](const std::string& text) -> Status {
    if (text.size() >= kSize)
      return BadInput(fmt::format("{} must be at most {} bytes", option, kSize - 1));
    std::copy_n(text.c_str(), text.size() + 1, field);
    return Ok();
  };
  verb.Parsed(option, read, what, "TEXT");
}

}  // namespace

Status ParseInterval(const std::string& text, uint64_t& least, uint64_t& most) {
  least = most = 0;
  if (text == "back-to-back") return Ok();
  const size_t dots = text.find("..");
  ASSIGN_OR_RETURN(auto from, ParseDuration(text.substr(0, dots), "--interval"));
  ASSIGN_OR_RETURN(auto to, dots == std::string::npos
                                ? from
                                : ParseDuration(text.substr(dots + 2), "--interval"));
  least = static_cast<uint64_t>(from.count());
  most = static_cast<uint64_t>(to.count());
  if (least > most)
    return BadInput("--interval must have its shorter end first, not \"" + text + "\"");
  if (most > 10000000000) return BadInput("--interval must be at most 10s, not \"" + text + "\"");
  return Ok();
}

// A number, or the name of a size.
Status ReadScale(const std::string& text, LoadSettings& loads) {
  if (text.empty() || text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == text.npos) {
    loads.size = text;
    return text.empty() ? BadInput("--scale must be a number or a size, not empty") : Ok();
  }
  const char* end = text.data() + text.size();
  const auto [read, error] = std::from_chars(text.data(), end, loads.scale);
  if (error == std::errc() && read == end && loads.scale >= 1 && loads.scale <= 1000000)
    return Ok();
  return BadInput("--scale must be a number from 1 to 1000000 or a size such as small, not \"" +
                  text + "\"");
}

Result<StressSettings> SettingsOf(const StressOptions& options,
                                  const std::vector<std::string>& jvm_flags) {
  StressSettings settings = options.settings;
  settings.jvm_flags = jvm_flags;
  ASSIGN_OR_RETURN(settings.profiles, SelectProfiles(options.profiles));
  if (options.no_confirm) settings.confirm_times = 0;
  std::vector<std::string> names = options.walkers;
  ASSIGN_OR_RETURN(const std::string library, TakePlugin(names, options.provider));
  const std::string first = names.empty() ? settings.walker : names[0];
  settings.backend = BackendOf(first);
  if (!settings.backend->own_agent) {
    if (names.size() > 1) return BadInput(first + " walks alone: give no other --walker");
    if (!options.provider.empty())
      return BadInput(first + " is its own provider: give no --provider");
    settings.walker = first;
    if (const size_t colon = first.find(':'); colon != first.npos)
      settings.backend_argument = first.substr(colon + 1);
    return settings;
  }
  StressJob& job = settings.job;
  ASSIGN_OR_RETURN(job.without, OracleSet(options.without));
  ASSIGN_OR_RETURN(const auto provider, ProviderNamed(library));
  if (provider.library.size() >= sizeof job.provider)
    return BadInput("the path of the provider is too long for walkhammer");
  std::copy_n(provider.library.data(), provider.library.size(), job.provider);
  ASSIGN_OR_RETURN(const auto walkers, WalkersNamed(names, provider));
  RETURN_IF_ERROR(CheckMode(walkers, ModeName(job.mode), provider));
  if (options.witness == "none") {
    settings.witness = kNoWitness;
  } else if (!options.witness.empty()) {
    ASSIGN_OR_RETURN(settings.witness, WalkerNamed(options.witness, {}));
    RETURN_IF_ERROR(CheckMode({*settings.witness}, ModeName(job.mode), {}));
  }
  settings.walker = WalkerNames(walkers, ",");
  job.walker_count = 0;
  for (const int walker : walkers) {
    job.walkers[job.walker_count++] = static_cast<uint8_t>(walker);
    const WalkerInfo& info = AllWalkers()[static_cast<size_t>(walker)];
    if (info.answers_later && walkers.size() > 1)
      return BadInput(std::string(info.name) + " walks alone: give no other --walker");
  }
  return settings;
}

namespace {

// The options of both verbs.
void AddSharedOptions(Verb& verb, StressOptions& o) {
  StressSettings& s = o.settings;
  verb.List(
      "--workload", s.loads.workloads,
      "Programs to run, by name or pattern ('torture:*'); repeatable (walkhammer show workloads)",
      "NAME");
  const auto java = [&words = s.loads.java](const std::string& text) -> Status {
    ASSIGN_OR_RETURN(words, QuotedWords(text));
    return words.empty() ? BadInput("--java must name the arguments of a program") : Ok();
  };
  verb.Parsed("--java", java,
              "Instead of --workload: arguments of a java command of your own, e.g. '-jar "
              "app.jar'; words with "
              "blanks in double quotes",
              "TEXT");
  verb.Count("--pid", s.loads.pid, "Instead of --workload: attach to this running JVM");
  verb.Jdks(s.jdks);
  verb.Provider(o.provider);
  verb.WithoutOracles(o.without);
  verb.Profiles(o.profiles);
  verb.RunTime(s.time, s.job.step == 0 ? "60s for each cell" : "20s for each cell");
  verb.Jobs(s.jobs, "as cores permit");
  verb.Count("--threads", s.loads.threads, "Busy threads of a workload (default: 2)");
  const auto scale = [&loads = s.loads](const std::string& text) { return ReadScale(text, loads); };
  verb.Parsed("--scale", scale,
              "Size of a workload's input: 1 (the default), 2, ...; of DaCapo also small, default, "
              "large or vlarge",
              "N|SIZE");
  verb.Seed(s.job.seed);
  verb.Count("--depth", s.job.depth, "Most frames to ask for (default: 512)", 1, 16384);
  Limit(verb, "--hang-limit", s.job.hang_limit_ms, "CPU time that a walk may take (default: 1s)");
  verb.Time("--hung-after", s.hung_after,
            "A program that uses at most 2 % of a CPU for so long is hung (default: 30s)");
  verb.Count("--output-limit", s.output_limit_mib, "MiB that a program may print (default: 256)");
  verb.Text("--cache", s.loads.cache, "Folder of downloaded suites", "DIR");
  verb.Archives(s.loads.archives);
  verb.Text("--shard", o.shard, kShardHelp, "I/N");
  verb.OutFolder(o.out, "out/TIME-VERB-PID");
  verb.Flag("--no-confirm", o.no_confirm, "Do not replay what is found");
  verb.Flag("--no-walk", s.job.no_walk,
            "Ask no walker: stress counts its signals, and step compares code and calls");
  AddJudging(verb, o.end.judging);
  verb.Json(o.end.json);
}

}  // namespace

void AddSamplingOptions(Verb& verb, StressOptions& o) {
  StressJob& job = o.settings.job;
  verb.Walkers(o.walkers);
  verb.Text("--witness", o.witness,
            "Walker that answers are compared with, or none (default: asgst in torture:*)", "NAME");
  const auto interval = [&job](const std::string& text) {
    return ParseInterval(text, job.interval_min_ns, job.interval_max_ns);
  };
  verb.Parsed(
      "--interval", interval,
      "Time between samples: 100us (default), random in a range (10us..100us), or back-to-back",
      "TIME");
  Choose(verb, "--sampler", job.sampler, kSamplers,
         "Source of signals: auto (default), perf, timer or thread");
  Choose(verb, "--clock", job.clock, kClocks, "Clock of the interval: cpu (default) or wall");
  Choose(verb, "--mode", job.mode, kModes,
         "How a sample is walked. handler (default): by the thread itself, in its signal handler. "
         "parked: by another thread, while this one waits. running: by another, while this one "
         "goes on. nested: in the handler, and in a second one that interrupts it");
  Limit(verb, "--park-limit", job.park_limit_ms,
        "How long a parked thread waits at most for its walk to begin (default: 100ms)");
  verb.Flag("--include-native", job.native_threads, "Also sample threads that run no Java");
  verb.FlagOff("--no-jvmti", job.truth, "Do not ask JVMTI about parked threads");
  verb.Flag("--no-guard", job.uncontained,
            "A crash ends the program, as under a profiler, and leaves its hs_err log");
  AddSharedOptions(verb, o);
}

void AddSteppingOptions(Verb& verb, StressOptions& o) {
  StressSettings& s = o.settings;
  s.time = std::chrono::seconds(20);
  s.job.step = kStepByTrapFlag;
  verb.Walkers(o.walkers);
  Field(verb, "--thread", s.job.step_thread,
        "Thread to step, by a part of its name (default: the busiest)");
  verb.Scenes(s.loads.scenes, "none; a program is stepped");
  Field(verb, "--method", s.job.step_method,
        "Step only while this method is on the stack: pkg.Class.method");
  verb.Count("--steps", s.job.step_limit, "Instructions to step in all (default: no limit)");
  verb.Count("--window", s.job.step_window, "Instructions to step in a row (default: 20000)", 1);
  Choose(verb, "--stepper", s.job.step, kSteppers, "Means to step: trap-flag (default) or ptrace");
  AddSharedOptions(verb, o);
}

}  // namespace walkhammer
