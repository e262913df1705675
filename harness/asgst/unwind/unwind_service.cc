// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/unwind/unwind_service.h"

#include <link.h>
#include <sched.h>
#include <sys/auxv.h>
#include <time.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>

#include "harness/base/mappings.h"
#include "harness/process/service_thread.h"

namespace walkhammer::asgst {
namespace {

UnwindTables tables;
AutoResetEvent wanted;
std::atomic<bool> made{false};
std::atomic<uint64_t> made_after{0};  // Snapshot::changes of the newest tables

struct Loaded {
  std::string path;  // empty: only in memory
  uint64_t low, high;
  uint64_t hash;  // HashOfTable; 0: no table, or no file to read it from
};

struct Snapshot {
  std::vector<Loaded> modules;
  uint64_t changes = 0;  // number of loads and unloads so far
  std::string program = OwnProgram();
};

int AddLoaded(dl_phdr_info* info, size_t, void* snapshot) {
  constexpr uint64_t kPage = 4095;
  auto* into = static_cast<Snapshot*>(snapshot);
  uint64_t low = UINT64_MAX, high = 0, hash = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    // Nothing is unloaded here: dl_iterate_phdr holds the loader's lock.
    if (header.p_type == PT_GNU_EH_FRAME)
      hash = HashOfTable(reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr),
                         header.p_filesz);
    if (header.p_type != PT_LOAD) continue;
    low = std::min<uint64_t>(low, info->dlpi_addr + (header.p_vaddr & ~kPage));
    high = std::max<uint64_t>(high, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  if (low >= high) return 0;
  std::string path = info->dlpi_name;
  char real[PATH_MAX];
  if (path.empty()) path = into->program;
  // The kernel's library has a name, but no file. Any other module without a file was deleted after
  // it was loaded: its section headers are not in memory, and their place may not even be mapped.
  if (realpath(path.c_str(), real) == nullptr) {
    real[0] = '\0';
    if (low != getauxval(AT_SYSINFO_EHDR)) hash = 0;
  }
  into->modules.push_back({real, low, high, hash});
  into->changes = info->dlpi_adds + info->dlpi_subs;
  return 0;
}

// Number of modules that were loaded or unloaded so far.
uint64_t ChangesSoFar() {
  uint64_t changes = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* sum) {
        *static_cast<uint64_t*>(sum) = info->dlpi_adds + info->dlpi_subs;
        return 1;  // the same of all modules
      },
      &changes);
  return changes;
}

struct Known {
  Loaded module;
  std::vector<UnwindRow> rows;
};

// The tables of what was loaded at one time.
struct Generation {
  std::vector<std::shared_ptr<const Known>> known;
  std::vector<UnwindModule> modules;
  std::span<const UnwindModule> view;
};

struct Kept {
  std::unique_ptr<Generation> newest = std::make_unique<Generation>();
  std::vector<std::unique_ptr<Generation>> older;  // walks may still be using them
};

std::shared_ptr<const Known> FindOrRead(const Loaded& module, const Generation& last) {
  for (const auto& known : last.known)
    if (known->module.low == module.low && known->module.path == module.path &&
        known->module.hash == module.hash)
      return known;
  // Without a table there is nothing to read.
  std::vector<UnwindRow> rows;
  if (module.hash != 0) rows = ReadUnwindRows(module.path, module.low, module.hash);
  return std::make_shared<const Known>(Known{module, std::move(rows)});
}

// Frees them once no walk uses them, which takes a lookup. If a walk was left by a jump in the
// middle of one, they are kept.
void FreeOlder(Kept& kept) {
  constexpr int kMostYields = 10'000;
  for (int i = 0; i < kMostYields; i++) {
    if (!tables.IsInUse()) return kept.older.clear();
    sched_yield();
  }
}

void MakeTables(const Snapshot& snapshot, Kept& kept) {
  auto now = std::make_unique<Generation>();
  for (const Loaded& module : snapshot.modules) {
    now->known.push_back(FindOrRead(module, *kept.newest));
    now->modules.push_back({module.low, module.high, now->known.back()->rows});
  }
  std::sort(now->modules.begin(), now->modules.end(),
            [](const UnwindModule& a, const UnwindModule& b) { return a.low < b.low; });
  now->view = now->modules;
  tables.Publish(&now->view);
  made.store(true);
  kept.older.push_back(std::exchange(kept.newest, std::move(now)));
  FreeOlder(kept);
}

void* Serve(void*) {
  constexpr timespec kRest{0, 100'000'000};  // between two rounds
  Kept kept;
  uint64_t changes = 0;
  for (;;) {
    // Before the snapshot, which holds all that was missed until now, and may lack what is missed
    // later.
    tables.TakeMissed();
    Snapshot snapshot;
    dl_iterate_phdr(AddLoaded, &snapshot);
    // Code of no known module often belongs to no module at all: tables are made again only after a
    // load or unload.
    if (!made || snapshot.changes != changes) MakeTables(snapshot, kept);
    changes = snapshot.changes;
    made_after.store(changes);
    nanosleep(&kRest, nullptr);
    wanted.Wait();
  }
}

}  // namespace

void StartUnwindService() {
  static std::once_flag once;
  // If this fails, walks use frame pointers.
  std::call_once(once, [] { static_cast<void>(StartServiceThread("asgst-unwind", Serve)); });
}

const UnwindTables& LiveTables() { return tables; }

void AskForTables() {
  if (tables.missed()) wanted.Set();
}

bool WaitForTables(int milliseconds) {
  constexpr timespec kMillisecond{0, 1'000'000};
  const uint64_t now = ChangesSoFar();
  const auto are_made = [now] { return made && made_after.load() >= now; };
  for (int i = 0; i < milliseconds && !are_made(); i++) {
    wanted.Set();
    nanosleep(&kMillisecond, nullptr);
  }
  return are_made();
}

}  // namespace walkhammer::asgst
