// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/code_patch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

namespace walkhammer {
namespace {

constexpr int kLastSignal = 64;

CodeUnit* CodeAt(uint64_t address) { return reinterpret_cast<CodeUnit*>(address); }

}  // namespace

CodeUnit ReadCode(uint64_t address) { return __atomic_load_n(CodeAt(address), __ATOMIC_RELAXED); }

void WriteCode(uint64_t address, CodeUnit code) {
  __atomic_store_n(CodeAt(address), code, __ATOMIC_RELAXED);
  auto* begin = reinterpret_cast<char*>(address);
  __builtin___clear_cache(begin, begin + sizeof code);
}

Status MakeCodeWritable(const std::vector<uint64_t>& sorted_addresses, const char* without) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const auto protect = [](uint64_t begin, uint64_t end) {
    return begin == end || mprotect(reinterpret_cast<void*>(begin), end - begin,
                                    PROT_READ | PROT_WRITE | PROT_EXEC) == 0;
  };
  uint64_t begin = 0, end = 0;  // a run of pages that hold addresses
  bool allowed = true;
  for (const uint64_t address : sorted_addresses) {
    const uint64_t first = address & ~(page - 1);
    const uint64_t last = (address + sizeof(CodeUnit) - 1) & ~(page - 1);
    if (first > end) {
      allowed = allowed && protect(begin, end);
      begin = first;
    }
    end = last + page;
  }
  if (allowed && protect(begin, end)) return Ok();
  return Unable(std::string("this kernel lets no code be changed (") + std::strerror(errno) +
                "): " + without);
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
