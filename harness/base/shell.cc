// SPDX-License-Identifier: Apache-2.0
#include "harness/base/shell.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iomanip>
#include <sstream>

namespace walkhammer {

std::string ShellWord(std::string_view word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-./:=,@%+").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  return quoted + "'";
}

std::string ShellCommand(std::span<const std::string> words) {
  std::string command;
  for (const std::string& word : words) command += (command.empty() ? "" : " ") + ShellWord(word);
  return command;
}

Result<std::vector<std::string>> QuotedWords(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  while (!(stream >> std::ws).eof()) {
    std::string word;
    if (!(stream >> std::quoted(word))) return BadInput("a quote is not closed: " + text);
    words.push_back(word);
  }
  return words;
}

Result<std::string> PlainPath(const std::string& path, const std::string& link) {
  const auto is_plain = [](const std::string& name) {
    return ShellWord(name) == name && name.find(':') == std::string::npos;
  };
  if (is_plain(path)) return path;
  if (!is_plain(link))
    return Unable(fmt::format(
        "neither {} nor {} can be named where nothing is quoted: set TMPDIR to a folder without "
        "blanks or colons in its name",
        path, link));
  std::error_code error;
  std::filesystem::remove(link, error);
  std::filesystem::create_symlink(path, link, error);
  if (error) return ToolFailed("cannot write " + link + ": " + error.message());
  return link;
}

}  // namespace walkhammer
