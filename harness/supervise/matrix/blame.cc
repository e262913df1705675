// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/matrix/blame.h"

#include <fmt/format.h>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

Blame WalkToBlame(const StressState& state, std::string_view hs_err) {
  const int64_t tid = ParseCrashReport(hs_err).tid.value;
  const SampleJournal *newest = nullptr, *of_thread = nullptr;
  int open = 0;
  const auto keep_newer = [](const SampleJournal& journal, const SampleJournal*& newest) {
    if (newest == nullptr || journal.sample.sequence > newest->sample.sequence) newest = &journal;
  };
  for (const SampleJournal& journal : state.journals) {
    if (journal.phase.load() != 1) continue;
    open++;
    keep_newer(journal, newest);
    if (tid != 0 && journal.sample.tid == tid) keep_newer(journal, of_thread);
  }
  if (newest == nullptr) return {};
  if (of_thread != nullptr)
    return {of_thread, fmt::format("on the thread that hs_err names ({})", tid)};
  std::string why = tid == 0 ? "" : fmt::format("on another thread than hs_err names ({})", tid);
  if (open > 1)
    why += fmt::format("{}the newest of {} that were under way", why.empty() ? "" : "; ", open);
  return {newest, why};
}

}  // namespace walkhammer
