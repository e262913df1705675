// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/signature_pattern.h"

#include <cctype>
#include <cstddef>

namespace walkhammer {
namespace {

// The next of a pattern: a byte, or a star.
struct PatternByte {
  char byte;
  bool star;
  size_t size;  // bytes of the pattern
};

PatternByte At(std::string_view pattern, size_t at) {
  const char c = pattern[at];
  if (c == '*') return {0, true, 1};
  if (c == '\\' && at + 1 < pattern.size()) return {pattern[at + 1], false, 2};
  return {c, false, 1};
}

// The end of the digits of a line number that begins at `at`, as in ":654)"; `at` if there is none.
size_t EndOfLineNumber(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) end++;
  return end > at && end < text.size() && text[end] == ')' ? end : at;
}

}  // namespace

bool MatchesSignature(std::string_view pattern, std::string_view signature) {
  size_t p = 0, s = 0;
  // The latest star, and the byte of the signature up to which it was taken to reach.
  size_t star = std::string_view::npos, reached = 0;
  while (s < signature.size()) {
    if (p < pattern.size()) {
      const PatternByte next = At(pattern, p);
      if (next.star) {
        star = p += next.size;
        reached = s;
        continue;
      }
      if (next.byte == signature[s]) {
        p += next.size;
        s++;
        continue;
      }
    }
    if (star == std::string_view::npos) return false;
    p = star;
    s = ++reached;
  }
  while (p < pattern.size() && At(pattern, p).star) p++;
  return p == pattern.size();
}

size_t NamedBytes(std::string_view pattern) {
  size_t bytes = 0;
  for (size_t at = 0; at < pattern.size(); at += At(pattern, at).size)
    if (!At(pattern, at).star) bytes++;
  return bytes;
}

std::string PatternOf(std::string_view signature) {
  std::string pattern;
  for (size_t i = 0; i < signature.size(); i++) {
    const char c = signature[i];
    if (c == '*' || c == '\\') pattern += '\\';
    pattern += c;
    if (c != ':') continue;
    const size_t end = EndOfLineNumber(signature, i + 1);
    if (end == i + 1) continue;
    pattern += '*';
    i = end - 1;
  }
  return pattern;
}

}  // namespace walkhammer
