// SPDX-License-Identifier: Apache-2.0
// DescribedCode: what the JVM says of its compiled code: which methods are active at each pc that
// its debug information describes, and at which byte code (JVMTI's CompiledMethodLoad with the
// inline record of jvmticmlr.h). Holds about the last kMost pcs: a newer pc may take the place of
// any other. Signal-safe: Find yes, all else no.
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

  // Adds the pcs of the nmethod whose code begins at `begin`. `record`: compile_info of
  // CompiledMethodLoad; null or of another kind: nothing is added.
  void Add(uint64_t begin, const void* record);
  void AddPc(uint64_t begin, uint64_t pc, const CodeDescription& there);

  uint64_t HeapBytes() const { return taken_.load() * sizeof(Entry); }

  // The description of exactly `pc`; none unless it was added for an nmethod that begins at
  // `begin`.
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
  // Zeros that take no memory until they are written to.
  std::unique_ptr<Entry[], Free> entries_{static_cast<Entry*>(std::calloc(kMost, sizeof(Entry)))};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_DESCRIBED_CODE_H_
