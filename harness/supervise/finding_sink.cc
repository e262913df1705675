// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/finding_sink.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/base/names.h"
#include "harness/base/shell.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {
namespace {

// Writes or replaces the crash folder of a bucket, with `shown` as its input.
Status WriteBucketFolder(const RunWriter& db, const Occurrence& shown, const ReplayWords& words,
                         int confirmed, int tries) {
  CrashCase crash;
  crash.record = shown.record;
  crash.raw = shown.is_death || !shown.has_request ? nullptr : &shown.raw;
  crash.request = shown.has_request ? &shown.raw.request : nullptr;
  crash.symbols = shown.symbols;
  crash.jdk = words.jdk;
  crash.replay_command = fmt::format(
      "{} replay {}{}", words.command,
      ShellWord(fmt::format("{}/crashes/{}/{}",
                            std::filesystem::absolute(db.dir()).lexically_normal().string(),
                            BucketName(shown.record.signature), kInputName)),
      words.options);
  crash.confirmed = confirmed;
  crash.tries = tries;
  crash.hs_err_text = shown.hs_err;
  auto folder = WriteCrashFolder(db.dir(), crash);
  return folder.ok() ? Ok() : Status(folder.failure());
}

// The row of a bucket that has only its first finding, for a progress line.
BucketRow NewBucket(const RunWriter::Added& added, const FindingRecord& record) {
  BucketRow row;
  row.id = added.bucket;
  row.signature = record.signature;
  row.folder = added.folder;
  row.grade = record.grade;
  row.realism = record.realism;
  row.first_time_ms = record.time_ms;
  return row;
}

}  // namespace

Result<int64_t> FindingSink::Add(const Occurrence& seen, const ReplayWords& words) {
  ASSIGN_OR_RETURN(auto added, db_.AddFinding(seen.record));
  folders_[added.bucket] = added.folder;
  if (added.is_new) {
    RETURN_IF_ERROR(WriteBucketFolder(db_, seen, words, 0, 0));
    newest_ = seen.record.signature.title;
    if (on_bucket) on_bucket(NewBucket(added, seen.record));
  }
  return added.bucket;
}

Status FindingSink::Confirm(int64_t bucket, const Occurrence& shown, const ReplayWords& words,
                            int confirmed, int tries) {
  RETURN_IF_ERROR(db_.SetConfirmed(bucket, confirmed, tries));
  return WriteBucketFolder(db_, shown, words, confirmed, tries);
}

Status FindingSink::SaveSeen(const std::map<int64_t, uint64_t>& times) {
  for (const auto& [bucket, count] : times) RETURN_IF_ERROR(db_.SetSeen(bucket, count));
  return Ok();
}

Status FindingSink::SaveVm(std::string_view version, std::string_view gc) {
  if (vm_known_ || gc.empty()) return Ok();
  RETURN_IF_ERROR(db_.SetVm(version, gc));
  vm_known_ = true;
  return Ok();
}

Status FindingSink::Finish(const Status& status, bool interrupted, const RunTotals& totals) {
  auto finished = db_.Finish(!status.ok()  ? RunStatus::kFailed
                             : interrupted ? RunStatus::kInterrupted
                                           : RunStatus::kCleanEnd,
                             totals, status.ok() ? "" : status.failure().message);
  if (!status.ok()) return status;
  return finished.ok() ? Ok() : Status(finished.failure());
}

ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library) {
  ReplayWords words;
  words.jdk = jdk.home + " (" + jdk.version + ")";
  words.command = ShellWord(BesideExecutable("walkhammer"));
  words.options = " --jdk " + ShellWord(jdk.home);
  if (!library.empty()) words.options += " --library " + ShellWord(library);
  if (!jvm_flags.empty()) words.options += " -- " + ShellCommand(jvm_flags);
  return words;
}

}  // namespace walkhammer
