// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/status_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include "harness/base/print.h"
#include "harness/cli/terminal.h"

namespace walkhammer {
namespace {

constexpr char kClearLine[] = "\r\033[K";
constexpr double kLogEvery = 10;  // seconds between lines where there is no terminal

}  // namespace

StatusLine::StatusLine() : terminal_(CanRedraw(STDERR_FILENO)) {}

bool StatusLine::Wants(double seconds, bool urgent) const {
  return terminal_ || urgent || seconds - last_shown_ >= kLogEvery;
}

void StatusLine::Show(double seconds, std::string line) {
  last_shown_ = seconds;
  if (!terminal_) {
    Print(stderr, "{}\n", line);
    return;
  }
  const size_t columns = TerminalColumns(STDERR_FILENO);
  if (line.size() >= columns) line.resize(columns - 1);
  PrintText(stderr, kClearLine);
  Print(stderr, "{}", line);
  std::fflush(stderr);
}

void StatusLine::Say(const std::string& line) {
  Clear();
  Print(stderr, "{}\n", line);
}

void StatusLine::Announce(const BucketRow& bucket) {
  Say(fmt::format("met at {:.1f}s: [{}] {} ({})", static_cast<double>(bucket.first_time_ms) / 1000,
                  GradeWord(bucket.grade), bucket.signature.title, RealismWord(bucket.realism)));
}

void StatusLine::Clear() {
  if (!terminal_) return;
  PrintText(stderr, kClearLine);
  std::fflush(stderr);
}

}  // namespace walkhammer
