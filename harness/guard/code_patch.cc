// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/code_patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include "harness/base/mappings.h"

namespace walkhammer {
namespace {

constexpr int kLastSignal = 64;

constexpr int kWritableCode = PROT_READ | PROT_WRITE | PROT_EXEC;

CodeUnit* CodeAt(uint64_t address) { return reinterpret_cast<CodeUnit*>(address); }

// Sets the protection of the mappings of the addresses. On failure, errno says why.
bool Protect(const std::vector<uint64_t>& sorted_addresses, int protection) {
  auto next = sorted_addresses.begin();
  for (const Mapping& mapping : ReadMappings()) {
    next = std::lower_bound(next, sorted_addresses.end(), mapping.begin);
    if (next == sorted_addresses.end() || *next >= mapping.end) continue;
    if (mprotect(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, protection) !=
        0)
      return false;
  }
  return true;
}

}  // namespace

CodeUnit ReadCode(uint64_t address) { return __atomic_load_n(CodeAt(address), __ATOMIC_RELAXED); }

void WriteCode(uint64_t address, CodeUnit code) {
  __atomic_store_n(CodeAt(address), code, __ATOMIC_RELAXED);
  auto* begin = reinterpret_cast<char*>(address);
  __builtin___clear_cache(begin, begin + sizeof code);
}

bool RewriteCode(uint64_t address, CodeUnit code) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  void* begin = reinterpret_cast<void*>(address & ~(page - 1));
  if (mprotect(begin, page, kWritableCode) != 0) return false;
  WriteCode(address, code);
  return true;
}

Status MakeCodeWritable(const std::vector<uint64_t>& sorted_addresses, const char* without) {
  if (Protect(sorted_addresses, kWritableCode)) return Ok();
  return Unable(std::string("this kernel lets no code be changed (") + std::strerror(errno) +
                "): " + without);
}

void MakeCodeUnwritable(const std::vector<uint64_t>& sorted_addresses) {
  Protect(sorted_addresses, PROT_READ | PROT_EXEC);
}

Status UnblockTraps() {
  for (int signal = 1; signal <= kLastSignal; signal++) {
    struct sigaction action {};
    // glibc keeps two signals for itself, for which sigaction fails.
    if (sigaction(signal, nullptr, &action) != 0) continue;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN ||
        sigismember(&action.sa_mask, SIGTRAP) == 0)
      continue;
    sigdelset(&action.sa_mask, SIGTRAP);
    if (sigaction(signal, &action, nullptr) != 0)
      return Unable("cannot take SIGTRAP out of the mask of signal " + std::to_string(signal) +
                    "'s handler (" + std::strerror(errno) + ")");
  }
  return Ok();
}

}  // namespace walkhammer
