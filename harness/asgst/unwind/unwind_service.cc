// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/unwind/unwind_service.h"

#include <link.h>
#include <sys/auxv.h>
#include <time.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "harness/base/mappings.h"
#include "harness/process/service_thread.h"

namespace walkhammer::asgst {
namespace {

UnwindTables tables;
AutoResetEvent wanted;
std::atomic<bool> made{false};

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

struct Known {
  Loaded module;
  std::vector<UnwindRow> rows;
};

struct Published {
  std::vector<UnwindModule> modules;
  std::span<const UnwindModule> view;
};

// All that was read and published, never freed: walks may still be using it.
struct Kept {
  std::vector<std::unique_ptr<Known>> known;
  std::vector<std::unique_ptr<Published>> published;
};

void MakeTables(const Snapshot& snapshot, Kept& kept) {
  auto& known = kept.known;
  auto& now = *kept.published.emplace_back(std::make_unique<Published>());
  for (const Loaded& module : snapshot.modules) {
    auto old = std::find_if(known.begin(), known.end(), [&](const auto& k) {
      return k->module.low == module.low && k->module.path == module.path &&
             k->module.hash == module.hash;
    });
    if (old == known.end()) {
      // Without a table there is nothing to read.
      std::vector<UnwindRow> rows;
      if (module.hash != 0) rows = ReadUnwindRows(module.path, module.low, module.hash);
      known.push_back(std::make_unique<Known>(Known{module, std::move(rows)}));
      old = known.end() - 1;
    }
    now.modules.push_back({module.low, module.high, (*old)->rows});
  }
  std::sort(now.modules.begin(), now.modules.end(),
            [](const UnwindModule& a, const UnwindModule& b) { return a.low < b.low; });
  now.view = now.modules;
  tables.Publish(&now.view);
  made.store(true);
}

void* Serve(void*) {
  constexpr timespec kRest{0, 100'000'000};  // between two rounds
  Kept kept;
  uint64_t changes = 0;
  for (;;) {
    Snapshot snapshot;
    dl_iterate_phdr(AddLoaded, &snapshot);
    // Code of no known module often belongs to no module at all: tables are made again only after a
    // load or unload.
    if (!made || snapshot.changes != changes) MakeTables(snapshot, kept);
    changes = snapshot.changes;
    nanosleep(&kRest, nullptr);
    tables.TakeMissed();
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
  for (int i = 0; i < milliseconds && !made; i++) nanosleep(&kMillisecond, nullptr);
  return made;
}

}  // namespace walkhammer::asgst
