// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/crash_log.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

constexpr std::string_view kExpect = "EXPECT ";

CrashLog ReadLog(const std::filesystem::path& path) {
  CrashLog log;
  log.name = path.filename();
  log.text = ReadFile(path);
  size_t at = 0;
  while (log.text.compare(at, kExpect.size(), kExpect) == 0) {
    const size_t end = std::min(log.text.find('\n', at), log.text.size());
    const std::string line = log.text.substr(at + kExpect.size(), end - at - kExpect.size());
    const size_t colon = std::min(line.find(": "), line.size());
    log.expectations.push_back(
        {line.substr(0, colon), line.substr(std::min(colon + 2, line.size()))});
    at = std::min(end + 1, log.text.size());
  }
  log.text.erase(0, at);
  return log;
}

}  // namespace

std::vector<CrashLog> CrashLogs(const std::string& folder) {
  std::vector<CrashLog> logs;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() != ".md") logs.push_back(ReadLog(entry.path()));
  std::sort(logs.begin(), logs.end(),
            [](const CrashLog& a, const CrashLog& b) { return a.name < b.name; });
  return logs;
}

std::string CrashLogText(const std::string& folder, const std::string& name) {
  return ReadLog(std::filesystem::path(folder) / name).text;
}

}  // namespace walkhammer
