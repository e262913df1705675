// SPDX-License-Identifier: Apache-2.0
// How often the gate gives a false alarm, and how often it finds what was planted, on runs that are
// drawn from real ones.
//   gate_power PAIRS RUNS.txt...
//     Draws PAIRS pairs of runs for each experiment, from the real runs of each file: fuzz runs of
//     11 s, or stress runs of 20 s. Exit code 1: the gate misses a goal. Slower walks need not be
//     found by one run of each side, nor where all times vary as on a machine at its limit.
//   gate_power record RUN...
//     Prints what such a file holds of these run folders, which are all of one build.
//
// A drawn run joins real runs, each drawn anew as stretches of five periods with all their counts,
// so that what depends on each other does so in the drawn run (a block bootstrap). No real run is
// behind two drawn runs of a pair.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "harness/base/text.h"
#include "reports/gate.h"

namespace walkhammer {
namespace {

constexpr size_t kStretch = 5;
constexpr double kFewestWalks = 300;    // of a run, in a state and region that is recorded
constexpr double kFewestDegrees = 100;  // of the variance of times
// For a stress run of 60 s, in the state and region where a rise from 1 % to 1.3 % must be found.
constexpr double kEnoughWalks = 100000;
// Standard deviation of the logarithm of a period's time, of the depth where it varies least, up to
// which slower walks must be found.
constexpr double kSteady = 0.06;
constexpr char kPlanted[] = "-29";  // a code that no walker declares

// What is recorded of one real run.
struct RealRun {
  std::map<Stratum, std::map<std::string, std::vector<double>>> codes;  // by period
  std::map<TimedWalks, std::vector<double>> times;                      // by period
};

// --- RUNS.txt: "run"; "times WALKER|WORKLOAD|LEAST_FRAMES|6.9,7.0", of each period; and "codes
// WALKER|WORKLOAD|STATE|REGION|CODE=1,2|CODE=0,3", or "scene .." if the workload is one

int Record(const std::vector<std::string>& dirs) {
  for (const std::string& dir : dirs) {
    const Result<GateSide> side = ReadGateSide({dir});
    if (!side.ok()) {
      fmt::print(stderr, "gate_power: {}\n", side.failure().message);
      return 2;
    }
    fmt::print("run\n");
    for (const auto& [stratum, codes] : side.value().codes) {
      if (SumOf(codes.begin()->second).walks < kFewestWalks) continue;
      const bool scene = side.value().scenes.contains(stratum.workload);
      if (scene && (stratum.state != "in_Java" ||
                    (stratum.region != "pristine" && stratum.region != "codelet")))
        continue;
      fmt::print("{} {}|{}|{}|{}", scene ? "scene" : "codes", stratum.walker, stratum.workload,
                 stratum.state, stratum.region);
      for (const auto& [code, counts] : codes) {
        std::vector<double> events;
        for (const PeriodCount& period : counts[0]) events.push_back(period.events);
        fmt::print("|{}={:.0f}", code, fmt::join(events, ","));
      }
      fmt::print("\n");
    }
    for (const auto& [walks, runs] : side.value().times) {
      if (side.value().scenes.contains(walks.workload)) continue;
      fmt::print("times {}|{}|{}|{:.4f}\n", walks.walker, walks.workload, walks.least_frames,
                 fmt::join(runs[0], ","));
    }
  }
  return 0;
}

std::vector<double> Numbers(const std::string& text) {
  std::vector<double> numbers;
  for (const std::string& number : Split(text, ',')) numbers.push_back(std::stod(number));
  return numbers;
}

// Sets `fuzz` if the workloads are scenes.
std::vector<RealRun> ReadRuns(const char* path, bool& fuzz) {
  std::vector<RealRun> runs;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::vector<std::string> parts =
        Split(line.substr(std::min<size_t>(6, line.size())), '|');
    fuzz |= line.starts_with("scene ");
    if (line == "run") {
      runs.emplace_back();
    } else if ((line.starts_with("codes ") || line.starts_with("scene ")) && parts.size() > 4) {
      auto& codes = runs.back().codes[{parts[0], parts[1], parts[2], parts[3]}];
      for (size_t i = 4; i < parts.size(); i++) {
        const size_t equals = parts[i].find('=');
        codes[parts[i].substr(0, equals)] = Numbers(parts[i].substr(equals + 1));
      }
    } else if (line.starts_with("times ") && parts.size() == 4) {
      runs.back().times[{parts[0], parts[1], std::stol(parts[2])}] = Numbers(parts[3]);
    }
  }
  return runs;
}

// --- drawing -------------------------------------------------------------------------------------

class Drawing {
 public:
  Drawing(const std::vector<RealRun>& runs, bool fuzz, uint64_t seed)
      : runs_(runs), fuzz_(fuzz), random_(seed) {
    for (const RealRun& run : runs)
      for (const auto& [stratum, codes] : run.codes)
        for (const auto& [code, counts] : codes) all_codes_[stratum].insert(code);
  }

  // Two sides of `count` runs each, each run of `parts` real ones.
  std::pair<GateSide, GateSide> Pair(size_t count, size_t parts) {
    std::vector<const RealRun*> order;
    for (const RealRun& run : runs_) order.push_back(&run);
    for (size_t i = order.size(); i > 1; i--) std::swap(order[i - 1], order[random_() % i]);
    GateSide first, second;
    for (size_t i = 0; i < 2 * count; i++) {
      const auto begin = order.begin() + static_cast<ptrdiff_t>(i * parts);
      AddRun({begin, begin + static_cast<ptrdiff_t>(parts)}, i % 2 == 0 ? first : second);
    }
    return {std::move(first), std::move(second)};
  }

  // Two sides of one real run each, not drawn anew.
  std::pair<GateSide, GateSide> AsTheyAre(const RealRun& one, const RealRun& other) {
    drawn_ = false;
    GateSide first, second;
    AddRun({&one}, first);
    AddRun({&other}, second);
    return {std::move(first), std::move(second)};
  }

  std::mt19937_64& random() { return random_; }

 private:
  // As many periods as there are, in stretches that follow each other in the real run.
  std::vector<size_t> Stretches(size_t periods) {
    std::vector<size_t> taken;
    while (!drawn_ && taken.size() < periods) taken.push_back(taken.size());
    while (taken.size() < periods) {
      const size_t begin = random_() % periods;
      for (size_t i = 0; i < kStretch && taken.size() < periods; i++)
        taken.push_back((begin + i) % periods);
    }
    return taken;
  }

  static size_t PeriodsOf(const RealRun& run) {
    size_t periods = 0;
    for (const auto& [stratum, codes] : run.codes)
      for (const auto& [code, counts] : codes) periods = std::max(periods, counts.size());
    return periods;
  }

  void AddRun(const std::vector<const RealRun*>& parts, GateSide& side) {
    const size_t run = side.runs.size();
    size_t before = 0;
    for (const RealRun* part : parts) {
      const std::vector<size_t> taken = Stretches(PeriodsOf(*part));
      for (const auto& [stratum, codes] : all_codes_)
        for (const std::string& code : codes) {
          SideCounts& all = side.codes[stratum][code];
          all.resize(run + 1);
          for (const size_t period : taken)
            all[run].push_back({CountOf(*part, stratum, code, period), 0});
        }
      before += taken.size();
      for (const auto& [key, values] : part->times) {
        side.times[key].resize(run + 1);
        for (const size_t i : Stretches(values.size())) side.times[key][run].push_back(values[i]);
      }
    }
    for (const auto& [stratum, codes] : side.codes)
      if (fuzz_) side.scenes.insert(stratum.workload);
    side.runs.emplace_back();
    side.dirs.emplace_back();
    side.periods += before;
    for (auto& [stratum, codes] : side.codes) FillWalks(codes, side.runs.size());
    side.walks = 0;
    for (const auto& [stratum, codes] : side.codes)
      for (const auto& [code, counts] : codes)
        side.walks += static_cast<uint64_t>(SumOf(counts).events);
    side.successful = side.walks;
  }

  static double CountOf(const RealRun& run, const Stratum& stratum, const std::string& code,
                        size_t period) {
    const auto codes = run.codes.find(stratum);
    if (codes == run.codes.end()) return 0;
    const auto counts = codes->second.find(code);
    return counts != codes->second.end() && period < counts->second.size() ? counts->second[period]
                                                                           : 0;
  }

  std::map<Stratum, std::set<std::string>> all_codes_;  // of any run
  const std::vector<RealRun>& runs_;
  bool fuzz_;  // workloads are scenes
  bool drawn_ = true;
  std::mt19937_64 random_;
};

// --- planting ------------------------------------------------------------------------------------

// Where codes are planted: one state and region, in all workloads. They vary as a real error does.
struct Place {
  std::string state, region, like;
  double share = 0;  // of walks there that are like that, over all runs
  double walks = 0;  // there, in a run
};

// Among the errors with less than this share of the walks of their place, the most frequent one.
Place FindPlace(const std::vector<RealRun>& runs, double most_share) {
  std::map<std::pair<std::string, std::string>, std::map<std::string, double>> sums;
  for (const RealRun& run : runs)
    for (const auto& [stratum, codes] : run.codes)
      for (const auto& [code, counts] : codes)
        for (const double count : counts) sums[{stratum.state, stratum.region}][code] += count;
  Place place;
  double most = 0;
  for (const auto& [where, codes] : sums) {
    double walks = 0;
    for (const auto& [code, count] : codes) walks += count;
    for (const auto& [code, count] : codes)
      if (code != "frames" && count > most && count < most_share * walks)
        most = count, place = {where.first, where.second, code, count / walks,
                               walks / static_cast<double>(runs.size())};
  }
  return place;
}

// Plants a code with `share` of the place's walks, which varies over periods, runs and workloads as
// the real error does.
void Plant(const Place& place, double share, std::mt19937_64& random, GateSide& side) {
  for (auto& [stratum, codes] : side.codes) {
    const auto real = codes.find(place.like);
    if (stratum.state != place.state || stratum.region != place.region || real == codes.end())
      continue;
    SideCounts planted = real->second;
    for (RunCounts& run : planted)
      for (PeriodCount& period : run) {
        const double expected = period.events / place.share * share;
        period.events = expected > 0
                            ? static_cast<double>(std::poisson_distribution<int>(expected)(random))
                            : 0;
      }
    codes[kPlanted] = std::move(planted);
  }
}

// A crash that is met in a period with the chance `often`.
void PlantCrash(double often, std::mt19937_64& random, GateSide& side) {
  GateBucket bucket;
  bucket.row.signature.title = "crash in planted";
  bucket.row.signature.oracle = kCrashOracleName;
  bucket.row.confirmed = bucket.row.tries = 5;
  for (size_t run = 0; run < side.runs.size(); run++)
    for (size_t i = 0; i < side.periods / side.runs.size(); i++)
      if (std::bernoulli_distribution(often)(random)) bucket.periods.emplace(run, i);
  bucket.seen = bucket.periods.size();
  if (bucket.seen > 0) side.buckets["crash in planted"] = bucket;
}

bool Fails(const GateVerdict& verdict, GateKind kind) {
  return std::any_of(verdict.changes.begin(), verdict.changes.end(), [&](const GateChange& change) {
    return change.effect == GateEffect::kFail && change.kind == kind;
  });
}

// --- experiments ---------------------------------------------------------------------------------

struct Experiment {
  std::string name;
  size_t runs, parts;  // of each side; real ones in each
  double least, most;  // share of pairs for which the gate must fail
  std::function<void(Drawing&, GateSide& baseline, GateSide& candidate)> plant;
  std::function<bool(const GateVerdict&)> found;
};

// Whether the times of any depth vary little within runs.
bool IsSteady(const std::vector<RealRun>& runs) {
  std::map<TimedWalks, SideValues> all;
  for (const RealRun& run : runs)
    for (const auto& [walks, values] : run.times) all[walks].push_back(values);
  return std::any_of(all.begin(), all.end(), [](const auto& one) {
    const Dispersion within = VarianceWithin(one.second, {});
    return within.degrees > kFewestDegrees && within.factor < kSteady * kSteady;
  });
}

// Stress runs are of 20 s, fuzz runs of 11 s.
std::vector<Experiment> Experiments(const std::vector<RealRun>& runs, bool fuzz) {
  // The first varies much from run to run, the second little.
  const Place rare = FindPlace(runs, 0.05), frequent = FindPlace(runs, 0.5);
  for (const Place& place : {rare, frequent})
    fmt::print("planted: as {} of {}, {} ({:.2g} % of {:.0f} walks a run)\n", place.like,
               place.state, place.region, 100 * place.share, place.walks);
  const auto codes = [](const Place& place, double candidate_share) {
    return [place, candidate_share](Drawing& drawing, GateSide& baseline, GateSide& candidate) {
      Plant(place, 0.01, drawing.random(), baseline);
      Plant(place, candidate_share, drawing.random(), candidate);
    };
  };
  const auto nothing = [](Drawing&, GateSide&, GateSide&) {};
  const auto slower = [](Drawing&, GateSide&, GateSide& candidate) {
    for (auto& [key, side] : candidate.times)
      for (RunValues& run : side)
        for (double& value : run) value += std::log(1.2);
  };
  const auto crash = [](Drawing& drawing, GateSide&, GateSide& candidate) {
    PlantCrash(1.0 / 3, drawing.random(), candidate);
  };
  const auto any = [](const GateVerdict& verdict) { return verdict.exit != ExitCode::kClean; };
  const auto code = [](const GateVerdict& verdict) { return Fails(verdict, GateKind::kCodes); };
  const auto time = [](const GateVerdict& verdict) { return Fails(verdict, GateKind::kSlower); };
  const auto bucket = [](const GateVerdict& verdict) {
    return Fails(verdict, GateKind::kNewCrash);
  };
  if (fuzz)
    return {
        {"fuzz, A/A, 11 s each", 1, 1, 0, 0.01, nothing, any},
        {"fuzz, A/A, 55 s each", 1, 5, 0, 0.01, nothing, any},
        {"fuzz, A/A, 3 runs of 55 s each", 3, 5, 0, 0.01, nothing, any},
        {"fuzz, A/A with a code of 1 %, 55 s each", 1, 5, 0, 0.01, codes(rare, 0.01), any},
        {"fuzz, A/B, 1 % to 1.3 %, 55 s each", 1, 5, 0.95, 1, codes(rare, 0.013), code},
        {"fuzz, A/B, 1 % to 1.3 %, 3 runs of 55 s each", 3, 5, 0.95, 1, codes(rare, 0.013), code}};
  std::vector<Experiment> all = {
      {"stress, A/A, 20 s each", 1, 1, 0, 0.01, nothing, any},
      {"stress, A/A, 60 s each", 1, 3, 0, 0.01, nothing, any},
      {"stress, A/A, 3 runs of 20 s each", 3, 1, 0, 0.01, nothing, any},
      {"stress, A/A, 3 runs of 60 s each", 3, 3, 0, 0.01, nothing, any},
      {"stress, A/A with a code of 1 %, 60 s each", 1, 3, 0, 0.01, codes(rare, 0.01), any},
      {"stress, A/B, walks 20 % slower, 60 s each", 1, 3, 0, 1, slower, time},
      {"stress, A/B, walks 20 % slower, 3 runs of 60 s", 3, 3, IsSteady(runs) ? 0.95 : 0, 1, slower,
       time},
      {"stress, A/B, a crash in every third second, 60 s", 1, 3, 1, 1, crash, bucket}};
  if (3 * frequent.walks < kEnoughWalks) return all;
  for (const size_t count : {1, 3, 5})
    for (const Place* place : {&rare, &frequent}) {
      const double least = place == &frequent && count > 1 ? 0.95 : 0;
      all.push_back(
          {fmt::format("stress, A/B, 1 % to 1.3 %, as {}, {} of 60 s", place->like, count), count,
           3, least, 1, codes(*place, 0.013), code});
    }
  return all;
}

bool Carry(const Experiment& experiment, const std::vector<RealRun>& runs, bool fuzz,
           size_t pairs) {
  Drawing drawing(runs, fuzz, 1);
  size_t found = 0;
  for (size_t i = 0; i < pairs; i++) {
    auto [baseline, candidate] = drawing.Pair(experiment.runs, experiment.parts);
    experiment.plant(drawing, baseline, candidate);
    const GateVerdict verdict = JudgeGate(baseline, candidate, {});
    const bool fails = experiment.found(verdict);
    found += fails ? 1 : 0;
    if (std::getenv("GATE_POWER_VERBOSE") != nullptr && fails != (experiment.least > 0))
      fmt::print("{}", GateText(verdict));
  }
  const double share = static_cast<double>(found) / static_cast<double>(pairs);
  const bool good = share >= experiment.least && share <= experiment.most;
  fmt::print("{:<4} {:<48} the gate fails {} of {} pairs ({:.1f} %; goal {:g} % to {:g} %)\n",
             good ? "ok" : "BAD", experiment.name, found, pairs, 100 * share,
             100 * experiment.least, 100 * experiment.most);
  return good;
}

// Each run with its neighbour, so that no run is in two pairs. True if the gate fails at most one
// in a hundred.
bool Neighbours(const std::vector<RealRun>& runs, bool fuzz) {
  size_t pairs = 0, failed = 0;
  for (size_t i = 0; i + 1 < runs.size(); i += 2, pairs++) {
    const auto [baseline, candidate] = Drawing(runs, fuzz, 1).AsTheyAre(runs[i], runs[i + 1]);
    failed += JudgeGate(baseline, candidate, {}).exit != ExitCode::kClean ? 1 : 0;
  }
  const bool good = 100 * failed <= pairs;
  fmt::print("{:<4} real pairs, as they are: the gate fails {} of {}\n", good ? "ok" : "BAD",
             failed, pairs);
  return good;
}

// True if the gate meets all goals.
bool Run(const char* path, size_t pairs) {
  bool fuzz = false;
  const std::vector<RealRun> runs = ReadRuns(path, fuzz);
  if (runs.size() < 30 || pairs == 0) {
    fmt::print(stderr, "gate_power: {}: {} runs are too few\n", path, runs.size());
    return false;
  }
  fmt::print("{}: {} real runs\n", path, runs.size());
  bool good = Neighbours(runs, fuzz);
  for (const Experiment& experiment : Experiments(runs, fuzz))
    good &= Carry(experiment, runs, fuzz, pairs);
  return good;
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) {
  using namespace walkhammer;
  if (argc >= 3 && std::strcmp(argv[1], "record") == 0) return Record({argv + 2, argv + argc});
  if (argc < 3) {
    std::fputs("usage: gate_power PAIRS RUNS.txt... | gate_power record RUN...\n", stderr);
    return 2;
  }
  bool good = true;
  for (int i = 2; i < argc; i++) good &= Run(argv[i], std::strtoul(argv[1], nullptr, 10));
  return good ? 0 : 1;
}
