// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/entry_jumps.h"

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "harness/guard/arch.h"
#include "harness/guard/code_patch.h"

namespace walkhammer {
namespace {

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// Pages at addresses that jumps lead to. What is in use stays as it is.
class JumpPages {
 public:
  // False if another mapping is there.
  bool Take(uint64_t begin, size_t size) {
    for (uint64_t page = begin & ~(PageBytes() - 1); page < begin + size; page += PageBytes())
      if (std::find(pages_.begin(), pages_.end(), page) == pages_.end() && !Map(page)) return false;
    return true;
  }
  bool MakeExecutable() const {
    return std::all_of(pages_.begin(), pages_.end(), [](uint64_t page) {
      return mprotect(reinterpret_cast<void*>(page), PageBytes(), PROT_READ | PROT_EXEC) == 0;
    });
  }

 private:
  bool Map(uint64_t page) {
    void* const wanted = reinterpret_cast<void*>(page);
    void* const got = mmap(wanted, PageBytes(), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == wanted) {
      pages_.push_back(page);
      return true;
    }
    // Linux before 4.17 takes the address for a hint.
    if (got != MAP_FAILED) munmap(got, PageBytes());
    return false;
  }

  std::vector<uint64_t> pages_;
};

// False: this kernel cannot.
bool HaveProcessorsSeeCode() {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0) == 0;
}

}  // namespace

void MakeTrapsJumps(std::span<const EntryHook> hooks) {
  syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE, 0, 0);
  // No processor may know an instruction of one byte of the old code, and another of the new.
  if (!HaveProcessorsSeeCode()) return;
  JumpPages pages;
  std::vector<uint64_t> entries;
  for (const EntryHook& hook : hooks) {
    const uint64_t target = EntryJumpTarget(hook.entry);
    if (target == 0 || !pages.Take(target, kFarJumpBytes)) continue;
    WriteFarJump(reinterpret_cast<uint64_t>(hook.instead), reinterpret_cast<uint8_t*>(target));
    entries.push_back(hook.entry);
  }
  if (!pages.MakeExecutable()) return;
  for (const uint64_t entry : entries) WriteCode(entry, kEntryJumpCode);
  HaveProcessorsSeeCode();
}

}  // namespace walkhammer
