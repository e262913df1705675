// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/progress_line.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/duration.h"
#include "harness/base/numbers.h"

namespace walkhammer {
namespace {

const char* PhaseWords(ChildPhase phase) {
  if (phase == ChildPhase::kScenes) return "setting up scenes";
  return phase == ChildPhase::kStarting || phase == ChildPhase::kBooting ? "booting the JVM" : "";
}

// Shares of frames, errors and crashes over everything walked so far.
std::string Shares(const SharedState& state) {
  uint64_t frames = 0, crashes = 0, hangs = 0, all = 0;
  for (int walker = 0; walker < WalkerCount(state.job); walker++)
    for (const auto& scene : state.counts[walker])
      for (const auto& thread_state : scene)
        for (const auto& region : thread_state)
          for (int code = 0; code < kCodeSlots; code++) {
            all += region[code];
            if (code == kCodeFrames) frames += region[code];
            if (code == kCodeCrash) crashes += region[code];
            if (code == kCodeHang) hangs += region[code];
          }
  if (all == 0) return "";
  auto percent = [&](uint64_t n) {
    return 100.0 * static_cast<double>(n) / static_cast<double>(all);
  };
  std::string text =
      fmt::format("frames {:.0f} %, errors {:.0f} %, crashes {:.1f} %", percent(frames),
                  percent(all - frames - crashes - hangs), percent(crashes));
  if (hangs != 0) text += fmt::format(", hangs {}", hangs);
  return text;
}

const char* StageWord(FuzzStage stage) {
  constexpr const char* kWords[] = {"walking", "replaying", "minimising", "merging the corpus"};
  return kWords[static_cast<int>(stage)];
}

}  // namespace

void ProgressLine::Show(const FuzzProgress& p) {
  if (!Wants(p.seconds, p.stage != stage_)) return;
  stage_ = p.stage;
  const uint64_t walks = p.shared->walks.load();
  std::string line = fmt::format("{:4.0f}s ", p.seconds);
  if (p.stage != FuzzStage::kWalking)
    line +=
        fmt::format("{}: {} of {} buckets confirmed", StageWord(p.stage), p.confirmed, p.buckets);
  else if (walks == 0)
    line += PhaseWords(p.shared->phase.load());
  else
    line += fmt::format("{} walks, {}, {}, {}{} buckets ({} confirmed)", Grouped(walks),
                        FormatRate(p.walks_per_second), Shares(*p.shared),
                        p.blocks == 0 ? "" : fmt::format("{} blocks, ", p.blocks), p.buckets,
                        p.confirmed);
  if (!p.newest.empty()) line += ", last: " + p.newest;
  StatusLine::Show(p.seconds, std::move(line));
}

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
