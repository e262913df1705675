// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/stress_progress.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/duration.h"
#include "harness/base/numbers.h"

namespace walkhammer {

void StressProgressLine::Show(const StressProgress& p) {
  if (!Wants(p.seconds)) return;
  std::string line = fmt::format("{:4.0f}s  {} of {} cells done, {} walks, {}, {} buckets",
                                 p.seconds, p.done, p.all, Grouped(p.walks),
                                 FormatRate(static_cast<double>(p.walks_per_second)), p.buckets);
  if (p.confirming) line += " | replaying what was found";
  for (const StressCell* cell : p.running)
    line += fmt::format(" | {} {:.0f}s", cell->row().label, cell->Seconds());
  if (!p.newest.empty()) line += " | last: " + p.newest;
  StatusLine::Show(p.seconds, std::move(line));
}

void StressProgressLine::CellEnded(const CellRow& cell) {
  Say(fmt::format("{}: {}{}{}", cell.label, CellStatusWord(cell.status),
                  cell.reason.empty() ? "" : ": ", cell.reason));
}

}  // namespace walkhammer
