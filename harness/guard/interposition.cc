// SPDX-License-Identifier: Apache-2.0
#include "harness/guard/interposition.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>

#include "harness/guard/guard.h"

namespace walkhammer {
namespace {

struct Probe {
  const char* symbol;
  const char* words;
  const char* release;           // frees `allocated`
  void (*call)(void* function);  // leaves nothing behind but `allocated`
};

void* allocated = nullptr;

constexpr Probe kProbes[] = {
    {"malloc", "malloc", "free",
     [](void* function) { allocated = reinterpret_cast<void* (*)(size_t)>(function)(1); }},
    // Some allocators have their own, which does not call malloc.
    {"_Znwm", "operator new", "_ZdlPv",
     [](void* function) { allocated = reinterpret_cast<void* (*)(size_t)>(function)(1); }},
    {"pthread_mutex_trylock", "pthread_mutex_trylock", "",
     [](void* function) {
       pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
       reinterpret_cast<decltype(&pthread_mutex_trylock)>(function)(&mutex);
     }},
    {"dlsym", "dlsym", "",
     [](void* function) { reinterpret_cast<decltype(&dlsym)>(function)(RTLD_DEFAULT, "malloc"); }},
};

}  // namespace

std::string WhatIsNotInterposed() {
  static GuardSlot slot;
  std::string reason;
  GuardSlot* before = SetCurrentGuardSlot(&slot);
  for (const Probe& probe : kProbes) {
    void* const function = dlsym(RTLD_DEFAULT, probe.symbol);
    if (function == nullptr || !reason.empty()) continue;  // nobody in this process calls it
    allocated = nullptr;
    GuardedCall(slot, [&] { probe.call(function); });
    Dl_info info{};
    if (slot.unsafe_call.function == nullptr)
      reason = std::string(probe.words) + " is that of " +
               (dladdr(function, &info) != 0 ? info.dli_fname : "another library");
    if (allocated != nullptr)
      reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, probe.release))(allocated);
  }
  SetCurrentGuardSlot(before);
  return reason;
}

}  // namespace walkhammer
