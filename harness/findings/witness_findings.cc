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

// True if the share is above its limit in most of the slices that have answers. One long moment in
// which an honest walker errs, such as a collection, has many samples, and lies in one of them.
bool IsAboveInMost(const StressState& state, WitnessFinding::Count count) {
  int with_answers = 0, above = 0;
  for (int slice = 0; slice < kWitnessSlices; slice++) {
    uint64_t all = 0;
    for (const auto& slices : state.witnessed[count.walker]) all += slices[slice].load();
    if (all == 0) continue;
    const auto here = static_cast<double>(
        state.witnessed[count.walker][static_cast<int>(count.testimony)][slice].load());
    with_answers++;
    above += here > LimitOf(count.testimony) / 100 * static_cast<double>(all);
  }
  return 2 * above > with_answers;
}

const char* OutcomeName(int testimony) {
  return FindOracle(kOracle)->outcomes[static_cast<size_t>(testimony)].name;
}

}  // namespace

uint64_t WitnessedAnswers(const StressState& state, int place) {
  uint64_t all = 0;
  for (int t = 0; t < kTestimonies; t++)
    all += WitnessedAnswers(state, {place, static_cast<Testimony>(t)});
  return all;
}

uint64_t WitnessedAnswers(const StressState& state, WitnessFinding::Count count) {
  uint64_t all = 0;
  for (const auto& slice : state.witnessed[count.walker][static_cast<int>(count.testimony)])
    all += slice.load();
  return all;
}

std::string WitnessShares(const StressState& state) {
  std::string text;
  for (int t = 1; t < kTestimonies; t++)
    if (const uint64_t count = WitnessedAnswers(state, {0, static_cast<Testimony>(t)}); count > 0)
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
      const uint64_t count = WitnessedAnswers(state, {w, testimony});
      if (!IsAbove(count, all, LimitOf(testimony)) || !IsAboveInMost(state, {w, testimony}))
        continue;
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
