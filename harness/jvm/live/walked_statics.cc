// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/live/walked_statics.h"

#include <dlfcn.h>

#include <atomic>

#include "harness/elf/elf_functions.h"

namespace walkhammer {

WalkedStatics WalkedStatics::Find(void* libjvm, const std::string& path) {
  const uint64_t bias = LoadBias(dlsym(libjvm, "JNI_CreateJavaVM"));
  std::vector<Guard*> guards;
  // ContinuationEntry::to_frame() const::cb, of JDK 21 to 28: continuation_bottom_sender needs it.
  for (const ElfFunction& found :
       FindFunctions(path, {"_ZGVZNK17ContinuationEntry8to_frameEvE2cb"}))
    guards.push_back(reinterpret_cast<Guard*>(bias + found.address));
  return WalkedStatics(std::move(guards));
}

void WalkedStatics::GiveUp() const {
  for (Guard* guard : guards_) {
    if (std::atomic_ref(*reinterpret_cast<uint8_t*>(guard)).load() != 0) continue;
    std::atomic_ref(*reinterpret_cast<int32_t*>(guard)).store(0);
  }
}

}  // namespace walkhammer
