// SPDX-License-Identifier: Apache-2.0
// libasgst.so as an agent of the JVM, which attaches itself: see asgst.h.
#include <dlfcn.h>
#include <jvmti.h>

#include <cstdio>

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/self_attach.h"

namespace {

// The agent takes no options: a word that it would ignore may be meant for the client's agent.
bool RefuseOptions(const char* options) {
  if (options == nullptr || *options == '\0') return false;
  fprintf(stderr, "libasgst: the option '%s' is unknown: the agent takes none\n", options);
  return true;
}

// Agents that are loaded later find the functions of this library then, also if they were not
// linked with it. Without this, they would have to be.
void ShareOwnSymbols() {
  Dl_info own{};
  if (dladdr(reinterpret_cast<void*>(ShareOwnSymbols), &own) != 0)
    dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
}

bool AttachOrTell(JavaVM* vm) {
  if (asgst_attach(vm) == 0) return true;
  fprintf(stderr, "libasgst: cannot attach to the JVM: %s\n", asgst_error());
  return false;
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* env, jthread) {
  JavaVM* vm = nullptr;
  if (env->GetJavaVM(&vm) == JNI_OK) AttachOrTell(vm);
  jvmti->SetEventNotificationMode(JVMTI_DISABLE, JVMTI_EVENT_VM_INIT, nullptr);
}

// JVMTI posts VMInit to environments in the order of their making, so libasgst is attached before
// the agents that are loaded after it know of the event.
bool AttachAtVmInit(JavaVM* vm) {
  jvmtiEnv* jvmti = nullptr;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = OnVmInit;
  return vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_1_2) == JNI_OK &&
         jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
         jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr) ==
             JVMTI_ERROR_NONE;
}

}  // namespace

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  if (RefuseOptions(options)) return JNI_ERR;
  walkhammer::asgst::AttachComes();
  ShareOwnSymbols();
  if (AttachAtVmInit(vm)) return JNI_OK;
  fprintf(stderr, "libasgst: this JVM does not tell agents that it is initialised\n");
  return JNI_ERR;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  if (RefuseOptions(options)) return JNI_ERR;
  ShareOwnSymbols();
  return AttachOrTell(vm) ? JNI_OK : JNI_ERR;
}

}  // extern "C"
