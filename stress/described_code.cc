// SPDX-License-Identifier: Apache-2.0
#include "stress/described_code.h"

#include <jvmti.h>
#include <jvmticmlr.h>

#include "harness/base/hash.h"

namespace walkhammer::stress {
namespace {

uint32_t FirstPlaceOf(uint64_t pc) {
  return static_cast<uint32_t>(PlaceOf(pc, 24)) & (DescribedCode::kMost - 1);
}

}  // namespace

void DescribedCode::Add(uint64_t begin, const void* record) {
  const auto* header = static_cast<const jvmtiCompiledMethodLoadRecordHeader*>(record);
  for (; header != nullptr; header = header->next) {
    if (header->kind != JVMTI_CMLR_INLINE_INFO) continue;
    const auto* all = reinterpret_cast<const jvmtiCompiledMethodLoadInlineRecord*>(header);
    for (jint i = 0; i < all->numpcs; i++) {
      const PCStackInfo& info = all->pcinfo[i];
      if (info.numstackframes <= 0) continue;
      CodeDescription there{info.methods[0], info.bcis[0]};
      for (jint f = 1; f < info.numstackframes; f++) there.AddCaller(info.methods[f], info.bcis[f]);
      AddPc(begin, reinterpret_cast<uint64_t>(info.pc), there);
    }
  }
}

void DescribedCode::AddPc(uint64_t begin, uint64_t pc, const CodeDescription& there) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t first = FirstPlaceOf(pc);
  Entry* place = &entries_[first];  // replaced if all kProbes places are taken
  for (uint32_t i = kProbes; i > 0; i--) {
    Entry& entry = entries_[(first + i - 1) & (kMost - 1)];
    const uint64_t taken = entry.pc.load(std::memory_order_relaxed);
    if (taken == 0 || taken == pc) place = &entry;
    if (taken == pc) break;
  }
  if (place->begin.load(std::memory_order_relaxed) == 0) taken_.fetch_add(1);
  place->pc.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  place->begin.store(begin, std::memory_order_relaxed);
  place->method.store(there.method, std::memory_order_relaxed);
  place->bci.store(there.bci, std::memory_order_relaxed);
  place->callers.store(there.callers, std::memory_order_relaxed);
  place->inlined.store(there.inlined, std::memory_order_relaxed);
  place->pc.store(pc, std::memory_order_release);
}

std::optional<CodeDescription> DescribedCode::Find(uint64_t begin, uint64_t pc) const {
  const uint32_t first = FirstPlaceOf(pc);
  for (uint32_t i = 0; i < kProbes; i++) {
    const Entry& entry = entries_[(first + i) & (kMost - 1)];
    if (entry.pc.load(std::memory_order_acquire) != pc) continue;
    const uint64_t code = entry.begin.load(std::memory_order_relaxed);
    const CodeDescription there{entry.method.load(std::memory_order_relaxed),
                                entry.bci.load(std::memory_order_relaxed),
                                entry.callers.load(std::memory_order_relaxed),
                                entry.inlined.load(std::memory_order_relaxed)};
    std::atomic_thread_fence(std::memory_order_acquire);
    if (entry.pc.load(std::memory_order_relaxed) != pc || code != begin) return {};
    return there;
  }
  return {};
}

}  // namespace walkhammer::stress
