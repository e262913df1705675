#include "harness/cli/stress_progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "harness/base/duration.h"
#include "harness/base/numbers.h"
#include "harness/base/print.h"

namespace walkhammer {
namespace {

constexpr double kLogEvery = 10;  // seconds between lines where there is no terminal

int Columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

StressProgressLine::StressProgressLine() : terminal_(isatty(STDERR_FILENO) != 0) {}

void StressProgressLine::Show(const StressProgress& p) {
  if (!terminal_ && p.seconds - last_shown_ < kLogEvery) return;
  last_shown_ = p.seconds;
  std::string line = fmt::format("{:4.0f}s  {} of {} cells done, {} walks, {}, {} buckets",
                                 p.seconds, p.done, p.all, Grouped(p.walks),
                                 FormatRate(static_cast<double>(p.walks_per_second)), p.buckets);
  if (p.confirming) line += " | replaying what was found";
  for (const StressCell* cell : p.running)
    line += fmt::format(" | {} {:.0f}s", cell->row().label, cell->Seconds());
  if (!p.newest.empty()) line += " | last: " + p.newest;
  if (!terminal_) {
    Print(stderr, "{}\n", line);
    return;
  }
  const auto columns = static_cast<size_t>(Columns() - 1);
  if (line.size() > columns) line.resize(columns);
  Print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

void StressProgressLine::Announce(const BucketRow& bucket) {
  Clear();
  Print(stderr, "new at {:.1f}s: [{}] {} ({})\n", static_cast<double>(bucket.first_time_ms) / 1000,
        GradeWord(bucket.grade), bucket.signature.title, RealismWord(bucket.realism));
}

void StressProgressLine::CellEnded(const CellRow& cell) {
  Clear();
  Print(stderr, "{}: {}{}{}\n", cell.label, CellStatusWord(cell.status),
        cell.reason.empty() ? "" : ": ", cell.reason);
}

void StressProgressLine::Clear() {
  if (!terminal_) return;
  Print(stderr, "\r\033[K");
  std::fflush(stderr);
}

}  // namespace walkhammer
