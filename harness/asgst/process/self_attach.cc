// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/self_attach.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "harness/asgst/process/attach.h"
#include "harness/jvm/live/jvmti_env.h"
#include "harness/jvm/structs/safefetch_code.h"

namespace walkhammer::asgst {
namespace {

std::atomic<bool> is_told{false};

// HotSpot's one JavaVM, by its symbol: JDK 8 to 28 name it main_vm (jni.cpp). Null: stripped.
JavaVM* VmOfSymbol(const void* in_libjvm) {
  Dl_info libjvm{};
  if (dladdr(in_libjvm, &libjvm) == 0) return nullptr;
  const auto base = reinterpret_cast<uint64_t>(libjvm.dli_fbase);
  for (const ElfFunction& found : FindFunctions(libjvm.dli_fname, {"main_vm"}))
    return reinterpret_cast<JavaVM*>(base + found.address);
  return nullptr;
}

// Null: there is no JVM in this process, or it does not show yet.
JavaVM* CreatedVm() {
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return nullptr;
  auto* created =
      reinterpret_cast<decltype(&JNI_GetCreatedJavaVMs)>(dlsym(libjvm, "JNI_GetCreatedJavaVMs"));
  JavaVM* vm = nullptr;
  jsize count = 0;
  if (created != nullptr && (created(&vm, 1, &count) != JNI_OK || count == 0))
    vm = VmOfSymbol(reinterpret_cast<void*>(created));
  dlclose(libjvm);
  return vm;
}

bool IsLive(JavaVM* vm) {
  jvmtiEnv* jvmti = NewJvmti(vm);
  if (jvmti == nullptr) return false;
  jvmtiPhase phase = JVMTI_PHASE_DEAD;
  const bool known = jvmti->GetPhase(&phase) == JVMTI_ERROR_NONE;
  jvmti->DisposeEnvironment();
  return known && phase == JVMTI_PHASE_LIVE;
}

bool IsOwnThread(JavaVM* vm) {
  void* env = nullptr;
  return vm->GetEnv(&env, JNI_VERSION_1_2) == JNI_OK;
}

}  // namespace

bool AttachIfPossible(JNIEnv* env) {
  if (Live() != nullptr) return true;
  JavaVM* vm = nullptr;
  if (env == nullptr || env->GetJavaVM(&vm) != JNI_OK) vm = CreatedVm();
  return vm != nullptr && IsOwnThread(vm) && IsLive(vm) && Attach(vm).ok();
}

void AttachComes() { is_told.store(true); }

void TellNotAttached() {
  if (is_told.exchange(true)) return;
  constexpr char kSentence[] =
      "libasgst: walks fail, as libasgst is not attached to the JVM: start java with "
      "-agentpath:.../libasgst.so before the client's agent, or call asgst_attach\n";
  const int error_number = errno;
  // There is nobody to tell if this fails.
  static_cast<void>(!write(STDERR_FILENO, kSentence, sizeof kSentence - 1));
  errno = error_number;
}

}  // namespace walkhammer::asgst
