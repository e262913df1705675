// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace walkhammer {
namespace {

constexpr size_t kLeastColumns = 20;  // a terminal of fewer does not know its size

}  // namespace

bool CanRedraw(int fd) {
  const char* terminal = std::getenv("TERM");
  return isatty(fd) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

size_t TerminalColumns(int fd) {
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastColumns;
  return known ? size.ws_col : kUsualColumns;
}

size_t TextColumns() {
  const char* columns = std::getenv("COLUMNS");
  const size_t named = columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
  const size_t wanted = named >= kLeastColumns ? named : TerminalColumns(STDOUT_FILENO);
  return std::min(wanted, kUsualColumns);
}

}  // namespace walkhammer
