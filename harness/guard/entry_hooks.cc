// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/entry_hooks.h"

#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <vector>

#include "harness/guard/code_patch.h"
#include "harness/guard/entry_jumps.h"
#include "harness/guard/former_handler.h"

namespace walkhammer {
namespace {

struct Hooked {
  uint64_t entry, instead;
};
// The handler reads the first `hooked_count`.
Hooked hooked[kMostEntryHooks];
std::atomic<int> hooked_count{0};
struct sigaction traps_before;

// Signal-safe: yes.
void PassTrapOn(int signal, siginfo_t* info, void* context) {
  if (CallFormerHandler(traps_before, signal, info, context)) return;
  // The kernel ignores no trap either.
  if (traps_before.sa_handler == SIG_IGN && info->si_code <= 0) return;
  struct sigaction end {};
  end.sa_handler = SIG_DFL;
  sigaction(signal, &end, nullptr);
  raise(signal);
}

// True for the SIGTRAP of a trap instruction. A sent SIGTRAP, or that of a single step or of a
// counter, may come with any pc. Signal-safe: yes.
bool ByTrapCode(const siginfo_t& info) {
  return info.si_code == SI_KERNEL || info.si_code == TRAP_BRKPT;
}

// Signal-safe: yes.
void OnEntryTrap(int signal, siginfo_t* info, void* raw_context) {
  auto& context = *static_cast<ucontext_t*>(raw_context);
  Registers registers = ReadContext(context);
  const uint64_t at = registers.pc - kTrapPcAhead;
  const int count = ByTrapCode(*info) ? hooked_count.load(std::memory_order_acquire) : 0;
  for (int i = 0; i < count; i++) {
    if (hooked[i].entry != at) continue;
    registers.pc = hooked[i].instead;
    return WriteContext(registers, context);
  }
  PassTrapOn(signal, info, raw_context);
}

Status ListenForTraps() {
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  if (sigismember(&blocked, SIGTRAP) != 0) return Unable("the current thread blocks SIGTRAP");
  static bool listening = false;
  struct sigaction now {};
  if (listening && sigaction(SIGTRAP, nullptr, &now) == 0)
    return now.sa_sigaction == OnEntryTrap ? Ok()
                                           : Unable("another handler for SIGTRAP came after ours");
  struct sigaction action {};
  action.sa_sigaction = OnEntryTrap;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  // First, as a trap may come before sigaction has written what it replaced.
  sigaction(SIGTRAP, nullptr, &traps_before);
  if (sigaction(SIGTRAP, &action, &traps_before) != 0)
    return Unable("cannot install a handler for SIGTRAP");
  listening = true;
  return UnblockTraps();
}

// Makes what the hooks call to call the functions, and sets their `original`.
Status MoveEntries(std::span<const EntryHook> hooks) {
  const size_t size = kMovedEntryBytes * hooks.size();
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return Unable("cannot allocate memory for code");
  auto* code = static_cast<uint8_t*>(memory);
  bool moved = true;
  for (const EntryHook& hook : hooks) {
    moved &= WriteMovedEntry(hook.entry, code);
    *hook.original = reinterpret_cast<HookedFunction>(code);
    code += kMovedEntryBytes;
  }
  if (moved && mprotect(memory, size, PROT_READ | PROT_EXEC) == 0) return Ok();
  munmap(memory, size);
  return moved ? Unable("this kernel refuses new executable memory")
               : Unable("a function begins with an instruction that cannot be moved");
}

}  // namespace

Status HookEntries(std::span<const EntryHook> hooks) {
  static auto* mutex = new std::mutex;
  const std::lock_guard lock(*mutex);
  const int before = hooked_count.load();
  if (hooks.size() > static_cast<size_t>(kMostEntryHooks - before)) return Unable("too many hooks");
  std::vector<uint64_t> entries;
  for (const EntryHook& hook : hooks) entries.push_back(hook.entry);
  std::sort(entries.begin(), entries.end());
  RETURN_IF_ERROR(MoveEntries(hooks));
  RETURN_IF_ERROR(ListenForTraps());
  RETURN_IF_ERROR(MakeCodeWritable(entries, "the JVM's functions cannot be hooked"));
  for (size_t i = 0; i < hooks.size(); i++)
    hooked[static_cast<size_t>(before) + i] = {hooks[i].entry,
                                               reinterpret_cast<uint64_t>(hooks[i].instead)};
  hooked_count.store(before + static_cast<int>(hooks.size()), std::memory_order_release);
  for (const EntryHook& hook : hooks) WriteCode(hook.entry, kTrapCode);
  MakeTrapsJumps(hooks);
  MakeCodeUnwritable(entries);
  return Ok();
}

}  // namespace walkhammer
