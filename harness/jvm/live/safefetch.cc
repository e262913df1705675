// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/live/safefetch.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "harness/guard/arch.h"
#include "harness/jvm/structs/safefetch_code.h"

namespace walkhammer {
namespace {

using Range = GuardOptions::Range;

constexpr uint64_t kMostBytes = 16;  // size of a function whose symbol has no size
constexpr size_t kFunctions = 2;     // SafeFetch32 and SafeFetchN

// Where libjvm is mapped.
struct Mapped {
  uint64_t inside;  // an address in libjvm
  uint64_t bias = 0;
  Range extent{};
};

int FindMapped(dl_phdr_info* info, size_t, void* data) {
  auto& mapped = *static_cast<Mapped*>(data);
  Range extent{UINT64_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    extent.begin = std::min<uint64_t>(extent.begin, info->dlpi_addr + header.p_vaddr);
    extent.end = std::max<uint64_t>(extent.end, info->dlpi_addr + header.p_vaddr + header.p_memsz);
  }
  if (mapped.inside < extent.begin || mapped.inside >= extent.end) return 0;
  mapped.bias = info->dlpi_addr;
  mapped.extent = extent;
  return 1;
}

// True if the JVM's signal handler, given a fault at `pc`, resumes at another pc. Only `pc` can be
// the reason: the presented fault address is near no stack and no polling page.
bool JvmResumes(const GuardOptions& options, uint64_t pc) {
  constexpr uint64_t kNowhere = 0x10;
  ucontext_t context;
  getcontext(&context);
  Registers registers = ReadContext(context);
  registers.pc = pc;
  WriteContext(registers, context);
  siginfo_t info{};
  info.si_signo = SIGSEGV;
  info.si_code = SEGV_MAPERR;
  info.si_addr = reinterpret_cast<void*>(kNowhere);
  return options.jvm_handler(SIGSEGV, &info, &context, 0) != 0 && ReadContext(context).pc != pc;
}

// Puts into options.safefetch, for each candidate, the one instruction whose fault makes the JVM
// resume. True if both functions are found; else options.safefetch stays empty.
bool Take(const std::vector<Range>& candidates, GuardOptions& options) {
  size_t count = 0;
  for (const Range& candidate : candidates) {
    uint64_t pc = candidate.begin;
    while (pc < candidate.end && !JvmResumes(options, pc)) pc++;
    const bool known = std::any_of(options.safefetch, options.safefetch + count,
                                   [&](const Range& range) { return range.begin == pc; });
    if (pc < candidate.end && !known && count < kFunctions)
      options.safefetch[count++] = {pc, pc + 1};
  }
  if (count == kFunctions) return true;
  std::fill_n(options.safefetch, count, Range{});
  return false;
}

std::vector<Range> Placed(const std::vector<ElfFunction>& functions, uint64_t bias) {
  std::vector<Range> out;
  for (const ElfFunction& function : functions) {
    const uint64_t begin = bias + function.address;
    out.push_back({begin, begin + (function.size != 0 ? function.size : kMostBytes)});
  }
  return out;
}

std::vector<Range> Stubs(const Jvm& jvm) {
  std::vector<Range> out;
  for (const NamedCode& stub : jvm.Stubs())
    if (stub.name.find("SafeFetch") != std::string::npos) out.push_back({stub.begin, stub.end});
  return out;
}

}  // namespace

SafeFetchSource FindSafeFetch(const Jvm& jvm, const std::string& libjvm, GuardOptions& options) {
  Mapped mapped{reinterpret_cast<uint64_t>(dlsym(jvm.library(), "JNI_CreateJavaVM"))};
  dl_iterate_phdr(FindMapped, &mapped);
  if (options.jvm_handler != nullptr) {
    if (Take(Placed(FindFunctions(libjvm, {kSafeFetch32, kSafeFetchN}), mapped.bias), options))
      return SafeFetchSource::kSymbols;
    if (Take(Placed(FindSafeFetchCode(libjvm), mapped.bias), options))
      return SafeFetchSource::kCode;
    if (Take(Stubs(jvm), options)) return SafeFetchSource::kStubs;
  }
  options.doubtful[0] = mapped.extent;
  if (jvm.has_structs()) options.doubtful[1] = {jvm.code_cache().low(), jvm.code_cache().high()};
  return SafeFetchSource::kNowhere;
}

}  // namespace walkhammer
