// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/witness_findings.h"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "harness/base/numbers.h"
#include "harness/oracles/oracle.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr char kOracle[] = "witness";

// True if the share of `count` in `all` is above `percent` even if `count` is three standard
// deviations too high by chance.
bool IsAbove(uint64_t count, uint64_t all, double percent) {
  const auto n = static_cast<double>(count);
  return n - 3 * std::sqrt(n) > percent / 100 * static_cast<double>(all);
}

const char* OutcomeName(int testimony) {
  return FindOracle(kOracle)->outcomes[static_cast<size_t>(testimony)].name;
}

}  // namespace

uint64_t WitnessedAnswers(const StressState& state, int place) {
  uint64_t all = 0;
  for (const auto& count : state.witnessed[place]) all += count.load();
  return all;
}

std::string WitnessShares(const StressState& state) {
  std::string text;
  for (int t = 1; t < kTestimonies; t++)
    if (const uint64_t count = state.witnessed[0][t].load(); count > 0)
      text += fmt::format("{}{} {}", text.empty() ? " (" : ", ",
                          Percent(count, WitnessedAnswers(state, 0), 2), OutcomeName(t));
  return text.empty() ? "" : text + ")";
}

std::vector<WitnessFinding> WitnessFindings(const StressJob& job, const StressState& state) {
  std::vector<WitnessFinding> findings;
  if (job.witness == 0 || HoldsOracle(job.without, kOracle)) return findings;
  const char* witness = AllWalkers()[job.witness - 1U].name;
  for (int w = 0; w < job.walker_count; w++) {
    const uint64_t all = WitnessedAnswers(state, w);
    if (all < kLeastTestimonies) continue;
    for (int t = 1; t < kTestimonies; t++) {
      const auto testimony = static_cast<Testimony>(t);
      const uint64_t count = state.witnessed[w][t].load();
      if (!IsAbove(count, all, LimitOf(testimony))) continue;
      const std::string words = fmt::format("{} {} {}", AllWalkers()[job.walkers[w]].name,
                                            TestimonyWords(testimony), witness);
      findings.push_back(
          {{w, testimony},
           MakeProgramRecord(
               kOracle, OutcomeName(t), words,
               fmt::format("{}, in {} of {} samples of threads in Java ({}); the limit is {:g} %",
                           words, Grouped(count), Grouped(all), Percent(count, all, 1),
                           LimitOf(testimony)))});
    }
  }
  return findings;
}

}  // namespace walkhammer
