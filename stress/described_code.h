// SPDX-License-Identifier: Apache-2.0
// DescribedCode: debug information of nmethods: for a pc, the active methods and their bytecode
// indexes. The JVM passes it in the inline records (jvmticmlr.h) of JVMTI's CompiledMethodLoad.
// Holds at most kMost pcs; a new pc may replace an older one. Signal-safe: Find and HeapBytes yes,
// the rest no.
#ifndef WALKHAMMER_STRESS_DESCRIBED_CODE_H_
#define WALKHAMMER_STRESS_DESCRIBED_CODE_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>

#include "harness/oracles/evidence.h"

namespace walkhammer::stress {

class DescribedCode {
 public:
  static constexpr uint32_t kMost = 1 << 19;  // a power of two

  // Adds the pcs of the nmethod whose code begins at `begin`. `record`: the compile_info of
  // CompiledMethodLoad. Adds nothing if it is null, or has no inline record.
  void Add(uint64_t begin, const void* record);
  void AddPc(uint64_t begin, uint64_t pc, const CodeDescription& there);

  uint64_t HeapBytes() const { return taken_.load() * sizeof(Entry); }

  // Returns the description of exactly `pc`; nullopt unless it was added for an nmethod whose code
  // begins at `begin`, and is not being replaced.
  std::optional<CodeDescription> Find(uint64_t begin, uint64_t pc) const;

 private:
  static constexpr uint32_t kProbes = 8;
  struct Entry {
    std::atomic<uint64_t> pc{0};  // 0: free, or being written
    std::atomic<uint64_t> begin{0};
    std::atomic<void*> method{nullptr};
    std::atomic<int32_t> bci{0}, callers{0};
    std::atomic<uint64_t> inlined{0};
  };
  struct Free {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  std::mutex mutex_;  // held while pcs are added
  std::atomic<uint64_t> taken_{0};
  // calloc, because its zeros take no memory until they are written to.
  std::unique_ptr<Entry[], Free> entries_{static_cast<Entry*>(std::calloc(kMost, sizeof(Entry)))};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_DESCRIBED_CODE_H_
