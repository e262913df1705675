// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/crash_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <system_error>

#include "harness/base/files.h"

namespace walkhammer {
namespace {

Failure WriteFailure(const std::string& path, int error) {
  if (error == ENOSPC || error == EDQUOT)
    return ToolFailed(path + ": the disk is full; free space and start a new run");
  return ToolFailed(fmt::format("{}: cannot be written ({})", path,
                                std::error_code(error, std::generic_category()).message()));
}

std::string CommentLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return "# " + text + "\n";
}

// Writes all of `text`. Returns 0 or an errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

std::string InputText(const CrashCase& crash) {
  std::string text = CommentLine(crash.record.signature.title);
  if (!crash.jdk.empty()) text += CommentLine("JDK: " + crash.jdk);
  if (!crash.replay_command.empty()) text += CommentLine("replay: " + crash.replay_command);
  return text + crash.record.request;
}

Status WriteFileAtomically(const std::string& path, std::string_view text) {
  const std::string temporary = path + ".tmp";
  // In a folder that others may write to, the name may be a link of theirs: it is not followed.
  unlink(temporary.c_str());
  const int fd = OpenFile(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return WriteFailure(path, errno);
  int error = WriteAll(fd, text);
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Ok();
  unlink(temporary.c_str());
  return WriteFailure(path, error);
}

Result<std::string> WriteCrashFolder(const std::string& run_dir, const CrashCase& crash) {
  const std::string crashes = run_dir + "/crashes";
  const std::string name = BucketName(crash.record.signature);
  const std::string folder = crashes + "/" + name;
  for (const std::string& dir : {crashes, folder})
    if (mkdir(dir.c_str(), 0777) != 0 && errno != EEXIST) return WriteFailure(dir, errno);
  if (!crash.record.request.empty())
    RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + kInputName, InputText(crash)));
  if (!crash.hs_err_text.empty())
    RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + kHsErrName, crash.hs_err_text));
  RETURN_IF_ERROR(WriteFileAtomically(folder + "/" + kExplainName, ExplainCase(crash)));
  return "crashes/" + name;
}

}  // namespace walkhammer
