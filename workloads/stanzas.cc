// SPDX-License-Identifier: Apache-2.0
#include "workloads/stanzas.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>

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

std::vector<std::string> PlaceholdersIn(std::string_view text) {
  std::vector<std::string> names;
  for (size_t open = text.find('{'); open != std::string_view::npos; open = text.find('{', open)) {
    const size_t close = text.find('}', open);
    const bool closed = close != std::string_view::npos;
    names.emplace_back(closed ? text.substr(open + 1, close - open - 1) : text.substr(open));
    open = closed ? close : text.size();
  }
  return names;
}

bool IsPlaceholder(std::string_view name) {
  return std::find(std::begin(kPlaceholders), std::end(kPlaceholders), name) !=
         std::end(kPlaceholders);
}

std::string Filled(std::string_view text, const std::map<std::string, std::string>& values) {
  std::string filled;
  while (!text.empty()) {
    const size_t open = std::min(text.find('{'), text.size());
    filled += text.substr(0, open);
    text.remove_prefix(open);
    const size_t close = text.find('}');
    if (close == std::string_view::npos) return filled.append(text);
    const auto value = values.find(std::string(text.substr(1, close - 1)));
    filled += value == values.end() ? std::string(text.substr(0, close + 1)) : value->second;
    text.remove_prefix(close + 1);
  }
  return filled;
}

}  // namespace walkhammer
