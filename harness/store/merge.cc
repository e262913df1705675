// SPDX-License-Identifier: Apache-2.0
#include "harness/store/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include "harness/store/run_merger.h"

namespace walkhammer {
namespace {

// A folder to merge; of its runs only what chooses among folders.
struct Source {
  std::string dir;
  std::vector<std::string> ids;
  std::string started_at;  // to the second, which shards of a short run share
  std::string shard;
};

// What tells builds of the JVM apart, as far as the run knows.
std::string BuildOf(const RunIdentity& run) {
  const std::string& id = run.libjvm_build_id;
  if (!id.empty() && id.find("none") == std::string::npos) return "libjvm " + id;
  return run.vm_version.empty() ? run.jdk_path : run.vm_version;
}

// Fails if the runs cannot stand for one: counts of two builds, added up, are those of neither.
Status CheckAlike(const std::string& first_dir, const RunIdentity& first, const std::string& dir,
                  const RunIdentity& run) {
  const struct {
    const char* what;
    std::string first, other;
  } facts[] = {{"build of the JVM", BuildOf(first), BuildOf(run)},
               {"kind of run", first.Kind(), run.Kind()},
               {"walker", first.walker, run.walker},
               {"provider", first.provider, run.provider},
               {"choice of JVM flags", first.jvm_flags, run.jvm_flags}};
  for (const auto& fact : facts)
    if (fact.first != fact.other)
      return BadInput(
          fmt::format("{} and {} differ in their {} (\"{}\" and \"{}\"); merge only what agrees in "
                      "it, into a folder of its own",
                      first_dir, dir, fact.what, fact.first, fact.other));
  return Ok();
}

class Sources {
 public:
  // Reads what chooses among folders, one folder at a time.
  Status Read(const std::vector<std::string>& dirs) {
    for (const std::string& dir : dirs) {
      ASSIGN_OR_RETURN(const RunReader db, RunReader::OpenEnded(dir));
      ASSIGN_OR_RETURN(const auto parts, db.Parts());
      const RunIdentity& oldest = parts.front().identity;
      Source source{dir, {}, oldest.started_at, oldest.shard};
      for (const RunRow& part : parts) {
        source.ids.push_back(part.identity.run_id);
        if (first_.empty()) {
          first_ = dir;
          first_run_ = part.identity;
        }
        RETURN_IF_ERROR(CheckAlike(first_, first_run_, dir, part.identity));
      }
      sources_.push_back(std::move(source));
    }
    return Ok();
  }

  // Leaves out folders whose runs others hold, and fails if a run would still count twice.
  // Returns the rest, oldest first.
  Result<std::vector<std::string>> Choose(std::vector<std::string>& left_out) {
    std::sort(sources_.begin(), sources_.end(), [](const Source& a, const Source& b) {
      if (a.ids.size() != b.ids.size()) return a.ids.size() > b.ids.size();
      return std::tie(a.started_at, a.shard, a.ids, a.dir) <
             std::tie(b.started_at, b.shard, b.ids, b.dir);
    });
    std::map<std::string, std::string> holders;  // folder by run id
    std::vector<const Source*> chosen;
    for (const Source& source : sources_) {
      std::string holder;
      size_t held = 0;
      for (const std::string& id : source.ids)
        if (const auto at = holders.find(id); at != holders.end()) {
          holder = at->second;
          held++;
        }
      if (held == source.ids.size()) {
        left_out.push_back(fmt::format("{}: left out, as {} holds {}", source.dir, holder,
                                       held == 1 ? "the same run" : "its runs, too"));
        continue;
      }
      if (held > 0)
        return BadInput(
            fmt::format("{} and {} share some of their runs, which would count twice; give the "
                        "runs that they were merged from",
                        source.dir, holder));
      for (const std::string& id : source.ids) holders[id] = source.dir;
      chosen.push_back(&source);
    }
    std::sort(chosen.begin(), chosen.end(), [](const Source* a, const Source* b) {
      return std::tie(a->started_at, a->shard, a->ids) < std::tie(b->started_at, b->shard, b->ids);
    });
    std::vector<std::string> dirs;
    for (const Source* source : chosen) dirs.push_back(source->dir);
    runs_ = holders.size();
    return dirs;
  }

  size_t runs() const { return runs_; }
  const RunIdentity& first_run() const { return first_run_; }

 private:
  std::vector<Source> sources_;
  std::string first_;
  RunIdentity first_run_;
  size_t runs_ = 0;
};

Status MergeInto(RunWriter& out, const std::vector<std::string>& dirs) {
  RunMerger merger(out);
  RETURN_IF_ERROR(merger.Begin());
  for (const std::string& dir : dirs) {
    ASSIGN_OR_RETURN(const RunReader from, RunReader::Open(dir));
    RETURN_IF_ERROR(merger.Add(from));
  }
  return merger.End();
}

// Empties a folder that was empty before.
void Empty(const std::string& dir) {
  std::error_code ignored;
  std::vector<std::filesystem::path> entries;
  for (const auto& entry : std::filesystem::directory_iterator(dir, ignored))
    entries.push_back(entry.path());
  for (const auto& path : entries) std::filesystem::remove_all(path, ignored);
  std::filesystem::remove(dir, ignored);
}

}  // namespace

Result<MergeOutcome> MergeRuns(const std::vector<std::string>& dirs, const std::string& out) {
  if (dirs.empty()) return BadInput("merge needs at least one run folder");
  Sources sources;
  RETURN_IF_ERROR(sources.Read(dirs));
  MergeOutcome outcome;
  ASSIGN_OR_RETURN(const auto chosen, sources.Choose(outcome.left_out));
  outcome.runs = sources.runs();
  RunIdentity identity = sources.first_run();
  identity.run_id.clear();
  Status merged = Ok();
  std::string dir;
  {
    ASSIGN_OR_RETURN(RunWriter db, RunWriter::Create(out, identity));
    dir = db.dir();
    merged = MergeInto(db, chosen);
  }
  if (!merged.ok()) {
    Empty(dir);
    return merged.failure();
  }
  return outcome;
}

}  // namespace walkhammer
