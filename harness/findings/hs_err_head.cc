// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/hs_err_head.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

bool IsWordChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// "V  [libjvm.so+0x12]  f(X*)+0x1f", "C  [libc.so.6+0x85f14]", "v  ~StubRoutines::call_stub 0x..",
// "J 44 c2 a.B.c(I)V (10 bytes) @ 0x.. [..]", "j  a.B.c()V+12".
void ParseProblematicFrame(std::string_view line, HsErrHead& head) {
  if (line.size() < 3) return;
  const char kind = line[0];
  std::string_view rest = Trim(line.substr(1));
  if (rest.starts_with('[')) {
    const size_t close = rest.find(']');
    const size_t plus = rest.find('+');
    if (close == std::string_view::npos) return;
    head.module = rest.substr(1, std::min(plus, close) - 1);
    head.frame = Trim(rest.substr(close + 1));
    if (head.frame.empty()) head.frame = rest.substr(1, close - 1);
    return;
  }
  if (kind == 'J') {
    // Drops the compile id, which says nothing about the bug.
    rest = Trim(rest.substr(std::min(rest.find_first_not_of("0123456789% "), rest.size())));
    rest = rest.substr(0, rest.find(" ("));
  }
  if (rest.starts_with('~')) rest.remove_prefix(1);
  std::string frame = NormalizeHex(rest);
  if (frame.ends_with(" 0x?")) frame.resize(frame.size() - 4);
  head.frame = frame;
}

// "(/build/src/frame.cpp:123)" -> "(frame.cpp:123)": debug builds state the whole path.
std::string ShortFile(std::string_view error) {
  const size_t open = error.find('(');
  const size_t slash = error.rfind('/');
  if (open == std::string_view::npos || slash == std::string_view::npos || slash < open)
    return std::string(error);
  return std::string(error.substr(0, open + 1)) + std::string(error.substr(slash + 1));
}

// "..., pid=4891, tid=4892"; JDK 8 writes the address of a pthread instead, which is no tid.
int32_t TidOf(std::string_view line) {
  const size_t at = line.rfind(", tid=");
  int32_t tid = 0;
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = Trim(line.substr(at + 6));
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), tid);
  return error == std::errc() && end == digits.data() + digits.size() && tid > 0 ? tid : 0;
}

}  // namespace

HsErrHead ParseHsErrHead(std::string_view text) {
  HsErrHead head;
  enum { kBefore, kError, kMessage, kRest, kFrame } expecting = kBefore;
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    const std::string_view raw = text.substr(0, newline);
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (raw.find("S U M M A R Y") != std::string_view::npos) break;
    if (!raw.starts_with('#')) continue;
    const std::string_view line = Trim(raw.substr(1));
    if (line.empty()) continue;
    if (line.starts_with("JRE version:")) {
      if (expecting != kBefore) expecting = kRest;
    } else if (line.starts_with("Problematic frame:")) {
      expecting = kFrame;
    } else if (line.starts_with("A fatal error has been detected")) {
      expecting = kError;
    } else if (line.starts_with("There is insufficient memory")) {
      head.error = "insufficient memory";
      return head;
    } else if (expecting == kError) {
      const bool is_signal = line.starts_with("SIG");
      std::string_view error = line.substr(0, is_signal ? line.find(' ') : line.find(", pid="));
      head.tid = TidOf(line);
      head.error = NormalizeHex(is_signal ? std::string(error) : ShortFile(error));
      expecting = is_signal ? kRest : kMessage;
    } else if (expecting == kMessage) {
      head.message = NormalizeHex(line);
      expecting = kRest;
    } else if (expecting == kFrame) {
      ParseProblematicFrame(line, head);
      expecting = kRest;
    }
  }
  return head;
}

std::string NormalizeHex(std::string_view text, size_t shortest) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const bool prefixed = text.substr(i).starts_with("0x") || text.substr(i).starts_with("0X");
    const size_t begin = prefixed ? i + 2 : i;
    size_t end = begin;
    while (end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])) != 0) end++;
    const size_t digits = end - begin;
    const bool whole_word =
        (i == 0 || !IsWordChar(text[i - 1])) && (end == text.size() || !IsWordChar(text[end]));
    if (whole_word && (prefixed ? digits >= shortest : digits == 16 || digits == 12)) {
      out += "0x?";
      i = end;
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace walkhammer
