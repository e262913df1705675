// SPDX-License-Identifier: Apache-2.0
#include "harness/process/oom_kills.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/text.h"

namespace walkhammer {
namespace {

std::optional<uint64_t> CountIn(const std::string& path) {
  const std::vector<std::string> words = Words(ReadFile(path));
  for (size_t i = 0; i + 1 < words.size(); i++) {
    uint64_t count = 0;
    const std::string& number = words[i + 1];
    if (words[i] == "oom_kill" &&
        std::from_chars(number.data(), number.data() + number.size(), count).ec == std::errc())
      return count;
  }
  return std::nullopt;
}

}  // namespace

uint64_t OomKills(const std::string& root) {
  const std::string groups = root + "/sys/fs/cgroup";
  for (const std::string& line : Split(ReadFile(root + "/proc/self/cgroup"), '\n')) {
    // "NUMBER:CONTROLLER,CONTROLLER:PATH"; version 2 names no controller.
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    const std::vector<std::string> controllers =
        Split(line.substr(first + 1, second - first - 1), ',');
    const bool is_v1 =
        std::find(controllers.begin(), controllers.end(), "memory") != controllers.end();
    if (!is_v1 && second != first + 1) continue;
    const std::string folder = groups + (is_v1 ? "/memory" : "");
    const std::string file = is_v1 ? "/memory.oom_control" : "/memory.events";
    // A container may see its own group as the topmost folder.
    for (const std::string& group : {folder + path, folder})
      if (const auto count = CountIn(group + file)) return *count;
  }
  return 0;
}

uint64_t OomKillsSince(uint64_t before, const std::string& root) {
  return std::max(OomKills(root), before) - before;
}

}  // namespace walkhammer
