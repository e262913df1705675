// SPDX-License-Identifier: Apache-2.0
#include "harness/bugs/bug_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/nearest.h"
#include "harness/bugs/bug_text.h"
#include "harness/findings/crash_folder.h"
#include "harness/request/symbol_table.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTextEnd = ".toml";
constexpr char kWhichStore[] = "which store? name its folder by --store DIR";

// The content of a regular file; empty if there is no file. kBadInput: it is not regular, or too
// large.
Result<std::optional<std::string>> ReadSmall(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::optional<std::string>();
  ASSIGN_OR_RETURN(std::string text, ReadFileOf(path, "part of a store of bugs"));
  return std::optional<std::string>(std::move(text));
}

// The text of a bug's request; "" if there is no file.
Result<std::string> ReadWalk(const std::string& path) {
  ASSIGN_OR_RETURN(const auto text, ReadSmall(path));
  if (!text) return std::string();
  const auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile parsed;
  if (std::string wrong = ParseText(*text, path, *symbols, parsed); !wrong.empty())
    return BadInput(std::move(wrong));
  return *text;
}

}  // namespace

Result<BugStore> BugStore::Read(const std::string& dir) {
  if (dir.empty()) return BadInput(kWhichStore);
  BugStore store(dir);
  RETURN_IF_ERROR(store.ReadFiles());
  return store;
}

Result<BugStore> BugStore::Change(const std::string& dir) {
  if (dir.empty()) return BadInput(kWhichStore);
  if (mkdir(dir.c_str(), 0777) != 0 && errno != EEXIST)
    return BadInput(fmt::format("--store {}: cannot be made ({})", dir, std::strerror(errno)));
  BugStore store(dir);
  RETURN_IF_ERROR(store.Lock());
  RETURN_IF_ERROR(store.ReadFiles());
  return store;
}

Status BugStore::Lock() {
  const std::string path = dir_ + "/" + kStoreLock;
  for (;;) {
    const int fd = OpenFile(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0)
      return BadInput(
          fmt::format("--store {}: cannot be written to ({})", dir_, std::strerror(errno)));
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      close(fd);
      if (error == EWOULDBLOCK)
        return BadInput(
            fmt::format("--store {}: another process is changing it; try again "
                        "once that has ended",
                        dir_));
      return BadInput(fmt::format("--store {}: cannot be locked ({})", dir_, std::strerror(error)));
    }
    // Its last owner may have removed the file after it was opened here: then it locks nothing.
    struct stat locked, there;
    if (fstat(fd, &locked) == 0 && stat(path.c_str(), &there) == 0 &&
        locked.st_ino == there.st_ino && locked.st_dev == there.st_dev) {
      lock_ = std::shared_ptr<void>(nullptr, [fd, path](void*) {
        unlink(path.c_str());  // before it is unlocked: see above
        close(fd);
      });
      return Ok();
    }
    close(fd);
  }
}

Status BugStore::ReadFiles() {
  std::error_code error;
  std::set<std::string> files;  // sorted, so that messages do not depend on the folder's order
  for (fs::directory_iterator at(dir_, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == kTextEnd) files.insert(at->path().filename());
  if (error)
    return BadInput(fmt::format("{}: the store cannot be read ({})", dir_, error.message()));
  for (const std::string& file : files)
    RETURN_IF_ERROR(ReadBug(file, file.substr(0, file.size() - kTextEnd.size())));
  read_ = bugs_;
  return CheckLinks();
}

Status BugStore::ReadBug(const std::string& file, const std::string& id) {
  const std::string path = dir_ + "/" + file;
  if (!IsBugId(id))
    return BadInput(path + ": a bug's file must have a name of letters, digits, '-', '_' and '.'");
  ASSIGN_OR_RETURN(auto text, ReadSmall(path));
  if (!text) return Ok();  // somebody has removed it just now
  ASSIGN_OR_RETURN(auto parsed, ParseBug(*text, path));
  parsed.bug.id = id;
  ASSIGN_OR_RETURN(parsed.bug.walk, ReadWalk(WalkPath(id)));
  lines_[id] = std::move(parsed.lines);
  for (const std::string& request : parsed.bug.requests) {
    ASSIGN_OR_RETURN(std::string walk, ReadWalk(dir_ + "/" + request));
    if (walk.empty())
      return BadInput(
          fmt::format("{}: there is no request \"{}\"", Place(id, "requests"), request));
    parsed.bug.texts.push_back(std::move(walk));
  }
  texts_[id] = std::move(*text);
  bugs_[id] = std::move(parsed.bug);
  return Ok();
}

std::string BugStore::Place(const std::string& id, const std::string& key) const {
  const auto lines = lines_.find(id);
  if (lines == lines_.end() || !lines->second.contains(key)) return TextPath(id);
  return fmt::format("{}:{}", TextPath(id), lines->second.at(key));
}

Status BugStore::CheckLinks() const {
  for (const auto& [id, bug] : bugs_) {
    for (const auto& [key, other] :
         {std::pair("duplicate-of", bug.duplicate_of), std::pair("like", bug.like)})
      if (!other.empty() && !bugs_.contains(other))
        return BadInput(fmt::format("{}: there is no bug \"{}\"", Place(id, key), other));
    std::set<std::string> seen;
    for (const Bug* step = &bug; step->state == BugState::kDuplicate;) {
      if (!seen.insert(step->id).second)
        return BadInput(fmt::format("{}: {} is, over other bugs, a duplicate of itself",
                                    Place(id, "duplicate-of"), id));
      const auto next = bugs_.find(step->duplicate_of);
      if (next == bugs_.end()) break;  // the bug that names it says so
      step = &next->second;
    }
  }
  return Ok();
}

Result<Bug*> BugStore::Find(const std::string& id) {
  const auto at = bugs_.find(id);
  if (at != bugs_.end()) return &at->second;
  std::vector<std::string_view> names;
  for (const auto& [name, bug] : bugs_) names.push_back(name);
  if (names.empty()) return BadInput(fmt::format("--store {}: has no bugs", dir_));
  return BadInput(fmt::format("there is no bug \"{}\" in {}; did you mean {}?", id, dir_,
                              NearestNames(id, names, 1).front()));
}

const Bug& BugStore::Root(const Bug& bug) const {
  const Bug* root = &bug;
  while (root->state == BugState::kDuplicate) root = &bugs_.at(root->duplicate_of);
  return *root;
}

Bug& BugStore::Add(Bug bug) {
  const std::string id = bug.id;
  for (int number = 2; bugs_.contains(bug.id); number++) bug.id = fmt::format("{}-{}", id, number);
  Bug& added = bugs_[bug.id];
  return added = std::move(bug);
}

Status BugStore::Save() {
  RETURN_IF_ERROR(CheckLinks());
  std::vector<const Bug*> changed;
  for (const auto& [id, bug] : bugs_) {
    const auto before = read_.find(id);
    if (before != read_.end() && before->second == bug) continue;
    ASSIGN_OR_RETURN(const auto text, ReadSmall(TextPath(id)));
    const auto known = texts_.find(id);
    if (text.has_value() != (known != texts_.end()) || (text && *text != known->second))
      return BadInput(fmt::format(
          "{}: was changed by somebody else, so nothing is written; run this again", TextPath(id)));
    changed.push_back(&bug);
  }
  for (const Bug* bug : changed) {
    const auto before = read_.find(bug->id);
    const bool has_walk = before != read_.end() && before->second.walk == bug->walk;
    if (!bug->walk.empty() && !has_walk)
      RETURN_IF_ERROR(WriteFileAtomically(WalkPath(bug->id), bug->walk));
    texts_[bug->id] = BugText(*bug);
    RETURN_IF_ERROR(WriteFileAtomically(TextPath(bug->id), texts_[bug->id]));
  }
  read_ = bugs_;
  return Ok();
}

}  // namespace walkhammer
