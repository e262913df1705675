// SPDX-License-Identifier: Apache-2.0
// LogFile: what a process prints, in a file that stays small: only the end is kept. The process
// never waits for a reader. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_PROCESS_LOG_FILE_H_
#define WALKHAMMER_HARNESS_PROCESS_LOG_FILE_H_

#include <cstddef>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

class LogFile {
 public:
  static constexpr size_t kMost = 1 << 20;   // bytes; Trim empties a larger file
  static constexpr size_t kKept = 64 << 10;  // bytes of the end that are kept

  LogFile() = default;
  ~LogFile();  // removes the file
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // Makes the file, or empties one that is there; call it once. Fails with kToolFailed.
  Status Open(const std::string& path);
  // The descriptor that the process writes to. It appends, so the process goes on after a Trim.
  int fd() const { return fd_; }
  // Empties the file once it is larger than kMost. Between two calls the file grows without limit:
  // the owner calls this several times a second. A line that is written during the call may be
  // lost.
  void Trim();
  // The last `most` bytes that were printed, and no more than kKept.
  std::string End(size_t most = kKept) const;

 private:
  size_t Size() const;
  std::string Tail() const;  // of the file

  std::string path_;
  std::string kept_;  // the end of what the last Trim cut off
  int fd_ = -1;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_LOG_FILE_H_
