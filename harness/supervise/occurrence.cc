// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/occurrence.h"

#include <fmt/format.h>

#include <filesystem>

#include "harness/base/shell.h"
#include "harness/findings/crash_folder.h"

namespace walkhammer {

Status WriteBucketFolder(const RunDb& db, const Occurrence& shown, const ReplayWords& words,
                         int confirmed, int tries) {
  CrashCase crash;
  crash.record = shown.record;
  crash.raw = shown.is_death ? nullptr : &shown.raw;
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

BucketRow NewBucket(const RunDb::Added& added, const FindingRecord& record) {
  BucketRow row;
  row.id = added.bucket;
  row.signature = record.signature;
  row.folder = added.folder;
  row.grade = record.grade;
  row.realism = record.realism;
  row.first_time_ms = record.time_ms;
  return row;
}

Status FinishRun(RunDb& db, const Status& status, bool interrupted, const RunTotals& totals) {
  auto finished = db.Finish(!status.ok()  ? RunStatus::kFailed
                            : interrupted ? RunStatus::kInterrupted
                                          : RunStatus::kCleanEnd,
                            totals, status.ok() ? "" : status.failure().message);
  if (!status.ok()) return status;
  return finished.ok() ? Ok() : Status(finished.failure());
}

}  // namespace walkhammer
