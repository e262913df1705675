// SPDX-License-Identifier: Apache-2.0
#include "workloads/stanzas.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

bool IsKey(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

}  // namespace

const StanzaLine* Stanza::Find(std::string_view key) const {
  for (const StanzaLine& line : lines) {
    if (line.key == key) return &line;
  }
  return nullptr;
}

Result<std::vector<Stanza>> ReadStanzas(const std::string& path) {
  std::ifstream file(path);
  if (!file) return ToolFailed(fmt::format("cannot read {}", path));
  std::vector<Stanza> stanzas;
  bool inside = false;
  std::string line;
  for (int number = 1; std::getline(file, line); number++) {
    const std::string where = fmt::format("{}:{}", path, number);
    const std::string text(Trim(line));
    if (text.empty()) {
      inside = false;
      continue;
    }
    if (text[0] == '#') continue;
    if (line[0] == ' ' || line[0] == '\t') {
      if (!inside)
        return BadInput(fmt::format("{}: there is no line that this goes on with", where));
      stanzas.back().lines.back().value += " " + text;
      continue;
    }
    const size_t colon = text.find(':');
    const std::string key = text.substr(0, colon);
    if (colon == std::string::npos || !IsKey(key)) {
      return BadInput(fmt::format("{}: not a line of the form \"key: value\": {}", where, text));
    }
    if (!inside) stanzas.emplace_back();
    inside = true;
    if (stanzas.back().Find(key) != nullptr) {
      return BadInput(fmt::format("{}: \"{}\" stands in this stanza already", where, key));
    }
    stanzas.back().lines.push_back(
        {key, std::string(Trim(std::string_view(text).substr(colon + 1))), where});
  }
  return stanzas;
}

}  // namespace walkhammer
