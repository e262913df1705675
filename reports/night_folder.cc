// SPDX-License-Identifier: Apache-2.0
#include "reports/night_folder.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <tuple>

#include "harness/base/files.h"
#include "harness/base/json_text.h"
#include "harness/findings/crash_folder.h"
#include "harness/store/run_folders.h"
#include "harness/store/run_reader.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostRecord = size_t{16} << 20;  // bytes of a file that is read
constexpr char kIssuesName[] = "known", kIssuesEnd[] = ".json";

// The text of a key; "" if it has none.
std::string TextOf(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : "";
}

int NumberOf(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number_integer() ? at->get<int>() : 0;
}

// Null if the file is not a JSON object.
json ReadObject(const std::string& path) {
  json document = json::parse(ReadFile(path, kMostRecord), nullptr, false);
  return document.is_object() ? document : json();
}

GroupSignatures SignaturesOf(const json& document, const char* key) {
  GroupSignatures all;
  const auto groups = document.find(key);
  if (groups == document.end() || !groups->is_object()) return all;
  for (const auto& [group, signatures] : groups->items())
    for (const json& signature : signatures)
      if (signature.is_string()) all[group].insert(signature.get<std::string>());
  return all;
}

// The path without links, for comparing folders.
fs::path Canonical(const std::string& dir) {
  std::error_code error;
  const fs::path path = fs::canonical(dir, error);
  return error ? fs::path(dir) : path;
}

}  // namespace

Result<std::string> StartOfNight(const std::string& dir) {
  std::string start;
  for (const std::string& group : GroupsOfNight(dir)) {
    ASSIGN_OR_RETURN(const RunReader db, RunReader::Open(GroupFolder(dir, group)));
    ASSIGN_OR_RETURN(const auto parts, db.Parts());
    for (const RunRow& part : parts)
      if (start.empty() || part.identity.started_at < start) start = part.identity.started_at;
  }
  if (start.empty()) return BadInput(dir + " is not a night: it has no merged runs");
  return start;
}

std::optional<NightRecord> ReadNightRecord(const std::string& dir) {
  const json document = ReadObject(dir + "/" + kNightRecordName);
  if (!document.is_object() || TextOf(document, "started_at").empty()) return std::nullopt;
  return NightRecord{TextOf(document, "started_at"), SignaturesOf(document, "accepted"),
                     SignaturesOf(document, "open")};
}

Status WriteNightRecord(const std::string& dir, const NightRecord& record) {
  const json document = {{"schema", 1},
                         {"started_at", record.started_at},
                         {"accepted", record.accepted},
                         {"open", record.open}};
  return WriteFileAtomically(dir + "/" + kNightRecordName, JsonText(document) + "\n");
}

std::vector<Night> NightsBefore(const std::string& dir, const std::string& start,
                                const std::string& self) {
  std::vector<Night> nights;
  std::error_code error;
  for (fs::directory_iterator at(dir, error), end; !error && at != end; at.increment(error)) {
    const std::string path = at->path().string();
    if (Canonical(path) == Canonical(self)) continue;
    auto record = ReadNightRecord(path);
    if (!record || record->started_at > start) continue;
    const bool green = fs::exists(at->path() / kGreenName, error);
    nights.push_back({path, green, std::move(*record)});
  }
  std::sort(nights.begin(), nights.end(), [](const Night& a, const Night& b) {
    return std::tie(b.record.started_at, b.dir) < std::tie(a.record.started_at, a.dir);
  });
  return nights;
}

std::vector<std::string> IssueJdksOfNight(const std::string& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(fs::path(dir) / kIssuesName, error), end; !error && at != end;
       at.increment(error))
    if (at->path().extension() == kIssuesEnd) names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<IssueReplays> ReadIssueReplays(const std::string& dir, const std::string& jdk) {
  const json document = ReadObject((fs::path(dir) / kIssuesName / (jdk + kIssuesEnd)).string());
  const auto jdks = document.find("jdks");
  if (jdks == document.end() || !jdks->is_array() || jdks->size() != 1) return std::nullopt;
  const auto bugs = jdks->front().find("bugs");
  if (bugs == jdks->front().end() || !bugs->is_array()) return std::nullopt;
  IssueReplays replays{TextOf(jdks->front(), "version"), {}};
  for (const json& bug : *bugs)
    replays.issues.push_back({TextOf(bug, "id"), TextOf(bug, "title"), TextOf(bug, "by_version"),
                              TextOf(bug, "verdict"), NumberOf(bug, "times"),
                              NumberOf(bug, "walked"), NumberOf(bug, "reproduced")});
  return replays;
}

}  // namespace walkhammer
