// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/safe_fetch.h"

#include <cstring>

#include "harness/guard/arch.h"
#include "harness/jvm/live/jvmti_env.h"
#include "harness/jvm/structs/safefetch_code.h"

namespace walkhammer::asgst {
namespace {

constexpr int kFirstFeatureOnAnyThread = 16;

// Where this thread needs the stub's address while it lists the stubs; null: it does not.
thread_local uint64_t* wanted = nullptr;

void JNICALL OnStub(jvmtiEnv*, const char* name, const void* address, jint length) {
  if (wanted == nullptr || length <= 0 || std::strcmp(name, kSafeFetchStub) != 0) return;
  const auto begin = reinterpret_cast<uint64_t>(address);
  *wanted = SafeFetchInStub(kOwnMemory, kElfMachine, begin, begin + static_cast<uint64_t>(length));
}

uint64_t FindStub(JavaVM* vm) {
  jvmtiEnv* jvmti = NewJvmti(vm);
  if (jvmti == nullptr) return 0;
  uint64_t found = 0;
  jvmtiEventCallbacks callbacks{};
  callbacks.DynamicCodeGenerated = OnStub;
  wanted = &found;
  constexpr jvmtiEvent kStubs = JVMTI_EVENT_DYNAMIC_CODE_GENERATED;
  if (jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, kStubs, nullptr) == JVMTI_ERROR_NONE)
    jvmti->GenerateEvents(kStubs);
  wanted = nullptr;
  jvmti->DisposeEnvironment();
  return found;
}

}  // namespace

SafeFetch FindSafeFetch(JavaVM* vm, const Dl_info& libjvm, int feature) {
  const auto base = reinterpret_cast<uint64_t>(libjvm.dli_fbase);
  SafeFetch found{0, feature < kFirstFeatureOnAnyThread};
  std::vector<ElfFunction> functions = FindFunctions(libjvm.dli_fname, {kSafeFetchN});
  if (functions.empty()) functions = FindSafeFetchCode(libjvm.dli_fname);
  for (const ElfFunction& function : functions)
    if (function.name == kSafeFetchN) found.address = base + function.address;
  if (found.address == 0) found.address = FindStub(vm);
  return found;
}

}  // namespace walkhammer::asgst
