// SPDX-License-Identifier: Apache-2.0
// SampledWorld: a synthetic sampled JVM: a StressState that tests fill. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_TESTING_H_
#define WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_TESTING_H_

#include <sys/mman.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "harness/elf/modules.h"
#include "harness/ipc/stress_state.h"

namespace walkhammer {

class SampledWorld {
 public:
  SampledWorld() {
    memory_ = mmap(nullptr, sizeof(StressState), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  ~SampledWorld() { munmap(memory_, sizeof(StressState)); }
  SampledWorld(const SampledWorld&) = delete;
  SampledWorld& operator=(const SampledWorld&) = delete;

  StressState& state() { return *static_cast<StressState*>(memory_); }
  Sample& sample() { return *sample_; }

  CodeEntry& AddCode(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end) {
    CodeEntry& entry = state().code[state().code_count.fetch_add(1)];
    entry.begin.store(begin);
    entry.end = end;
    entry.name = AddName(name);
    entry.kind = static_cast<uint8_t>(kind);
    return entry;
  }
  void AddMethod(std::string_view name, uint64_t method, uint64_t codes, uint32_t code_size) {
    MethodPlace& place = state().methods[state().method_count.fetch_add(1)];
    place.method.store(method);
    place.codes = codes;
    place.code_size = code_size;
    place.name = AddName(name);
  }
  void AddModule(std::string_view path, uint64_t begin, uint64_t end) {
    Module& module = state().modules[state().module_count.fetch_add(1)];
    path.copy(module.path, sizeof module.path - 1);
    module.start = begin;
    module.end = end;
  }
  void AddArea(uint64_t begin, uint64_t end, bool readable) {
    state().areas[state().area_count.fetch_add(1)] = {begin, end, readable, {}};
  }

 private:
  uint32_t AddName(std::string_view name) {
    const uint32_t at = names_used_;
    name.copy(state().names + at, name.size());
    names_used_ += static_cast<uint32_t>(name.size()) + 1;
    return at;
  }

  void* memory_;
  std::unique_ptr<Sample> sample_ = std::make_unique<Sample>();
  uint32_t names_used_ = 1;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FINDINGS_SAMPLE_REQUEST_TESTING_H_
