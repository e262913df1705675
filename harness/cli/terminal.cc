// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

constexpr size_t kLeastColumns = 20;  // a terminal of fewer does not know its size

}  // namespace

bool CanRedraw(int fd) {
  const char* terminal = std::getenv("TERM");
  return isatty(fd) != 0 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

size_t TerminalColumns(int fd, size_t otherwise) {
  winsize size{};
  const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeastColumns;
  return known ? size.ws_col : otherwise;
}

size_t TextColumns(size_t otherwise) {
  const char* columns = std::getenv("COLUMNS");
  size_t known = columns == nullptr ? 0 : std::strtoul(columns, nullptr, 10);
  if (known < kLeastColumns) known = TerminalColumns(STDOUT_FILENO, 0);
  return known == 0 ? otherwise : std::min(known, kUsualColumns);
}

std::string Wrapped(std::string_view text, size_t columns, size_t indent) {
  std::string wrapped;
  size_t at = indent;
  for (const std::string& word : Words(text)) {
    const bool fits = at + 1 + word.size() <= columns;
    if (at > indent) wrapped += fits ? " " : "\n" + std::string(indent, ' ');
    at = (at == indent ? at : fits ? at + 1 : indent) + word.size();
    wrapped += word;
  }
  return wrapped;
}

}  // namespace walkhammer
