// SPDX-License-Identifier: Apache-2.0
// BugStore: a folder of bugs, such as corpora/known-issues or one that a team keeps in its own
// version control: ID.toml, the bug, and ID.walk, a request that shows the bug, if one is known.
// This is the only reader of bugs. Signal-safe: no.
//
// A store with one file that is not as it should be is not read, and so never written. What is
// written replaces its file as a whole. Whoever changes a store holds its lock, the file
// kStoreLock, which is gone afterwards.
#ifndef WALKHAMMER_HARNESS_BUGS_BUG_STORE_H_
#define WALKHAMMER_HARNESS_BUGS_BUG_STORE_H_

#include <map>
#include <memory>
#include <string>

#include "harness/base/result.h"
#include "harness/bugs/bug.h"

namespace walkhammer {

inline constexpr char kStoreLock[] = ".lock";
// The folder of the bugs that ship with the tool, in `corpora` and beside the command.
inline constexpr char kKnownIssuesName[] = "known-issues";

class BugStore {
 public:
  // Reads the store in the folder `dir`. kBadInput, one sentence with file and line.
  static Result<BugStore> Read(const std::string& dir);
  // The same, and locks the store until the object dies; makes the folder if there is none.
  // kBadInput if another process has it locked.
  static Result<BugStore> Change(const std::string& dir);

  BugStore(BugStore&&) = default;  // and so no copy

  const std::map<std::string, Bug>& bugs() const { return bugs_; }  // by id
  // kBadInput: there is none; the sentence names the nearest ids.
  Result<Bug*> Find(const std::string& id);
  // The bug that `bug` is a duplicate of, over any number of steps, or `bug` itself.
  const Bug& Root(const Bug& bug) const;
  // Adds a bug. Its id, if that is taken, gets a number at its end. The reference is valid as long
  // as the store.
  Bug& Add(Bug bug);

  // Writes the bugs that are not as they were read. kBadInput, before anything is written, if a
  // file is no longer what was read. Only after Change().
  Status Save();

  // Path of the bug's request; the file need not be there.
  std::string WalkPath(const std::string& id) const { return dir_ + "/" + id + ".walk"; }
  // Whether all that bugs say of each other holds: kBadInput, one sentence, if not.
  Status CheckLinks() const;

 private:
  explicit BugStore(std::string dir) : dir_(std::move(dir)) {}
  Status ReadFiles();
  Status ReadBug(const std::string& file, const std::string& id);
  Status Lock();
  std::string TextPath(const std::string& id) const { return dir_ + "/" + id + ".toml"; }
  // The file of a bug, and the line of a key if it is known: "bugs/JDK-1.toml:3".
  std::string Place(const std::string& id, const std::string& key) const;

  std::string dir_;
  std::shared_ptr<void> lock_;  // unlocks when it dies; null: not locked
  std::map<std::string, Bug> bugs_;
  std::map<std::string, Bug> read_;                             // as they were read
  std::map<std::string, std::string> texts_;                    // of the files, by id
  std::map<std::string, std::map<std::string, size_t>> lines_;  // of keys, by id
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_BUG_STORE_H_
