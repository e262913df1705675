// SPDX-License-Identifier: Apache-2.0
// LockedFolder: the new folder of a run, locked while the run is written. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_LOCKED_FOLDER_H_
#define WALKHAMMER_HARNESS_STORE_LOCKED_FOLDER_H_

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

inline constexpr char kDbName[] = "run.db";
inline constexpr char kLockName[] = "run.lock";
// Bytes that the lock file keeps from a disk that runs full. The end of a run takes a few dozen
// pages of 4 KiB in the write-ahead log.
inline constexpr long kReserve = 256 << 10;

class LockedFolder {
 public:
  // Makes `dir` and its parents, or takes an empty folder, and locks it until the object dies.
  // Fails with kBadInput, and leaves nothing behind, on what the user must fix: a folder that is in
  // use, not empty or not writable, a full disk. Until FreeReserve, the lock file takes kReserve
  // where the file system and the limits of this process permit it.
  static Result<std::unique_ptr<LockedFolder>> Make(const std::string& dir);
  // Unlocks the folder. Removes all that was made, unless kept: so the next try may use the name.
  ~LockedFolder();
  LockedFolder(const LockedFolder&) = delete;
  LockedFolder& operator=(const LockedFolder&) = delete;

  const std::string& dir() const { return dir_; }
  void Keep() { kept_ = true; }
  // Gives kReserve back to the disk, for the last rows of the run.
  void FreeReserve();

 private:
  explicit LockedFolder(std::string dir) : dir_(std::move(dir)) {}
  int MakeDir(const std::filesystem::path& path);
  int MakeDirs(const std::filesystem::path& path);
  Status Lock();

  std::string dir_;
  int lock_fd_ = -1;
  std::vector<std::filesystem::path> made_dirs_;
  bool kept_ = false;
};

// True if a LockedFolder of any process has locked `dir`.
bool IsWritten(const std::string& dir);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_LOCKED_FOLDER_H_
