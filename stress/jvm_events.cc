// SPDX-License-Identifier: Apache-2.0
#include "stress/jvm_events.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "harness/ipc/shared_mapping.h"
#include "harness/jvm/live/jvmti_env.h"
#include "stress/agent.h"

namespace walkhammer::stress {
namespace {

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread thread) {
  if (Agent* agent = Agent::Get()) agent->threads().Started(env, thread);
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  if (Agent* agent = Agent::Get()) agent->threads().Ended();
}

void JNICALL OnCompiled(jvmtiEnv*, jmethodID method, jint size, const void* code, jint,
                        const jvmtiAddrLocationMap*, const void* record) {
  if (Agent* agent = Agent::Get()) agent->CodeLoaded(method, code, size, record);
}

void JNICALL OnUncompiled(jvmtiEnv*, jmethodID, const void* code) {
  if (Agent* agent = Agent::Get()) agent->CodeUnloaded(code);
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  if (Agent* agent = Agent::Get()) agent->Stop(AgentPhase::kEnded);
}

JavaVM* the_vm = nullptr;

void JNICALL OnVmInit(jvmtiEnv*, JNIEnv* env, jthread) {
  if (Agent* agent = Agent::Get()) agent->Start(the_vm, env);
}

// Opens the supervisor's mapping: its path is the option, else WALKHAMMER_STATE. Null on failure.
// (An option that jcmd passes on must hold no '='.)
StressState* OpenStressState(const char* options) {
  std::string path;
  if (options != nullptr) path = options;
  if (const char* variable = std::getenv(kStateVariable); path.empty() && variable != nullptr)
    path = variable;
  if (path.empty()) {
    std::fprintf(stderr,
                 "walkhammer: the agent is loaded by walkhammer stress; otherwise it needs "
                 "a path as option\n");
    return nullptr;
  }
  auto state = OpenStateAt<StressState>(path);
  if (state.ok()) return state.value();
  std::fprintf(stderr, "walkhammer: %s\n", state.failure().message.c_str());
  return nullptr;
}

// Removes our variables: processes that the program starts are not ours.
void ForgetEnvironment() {
  // Our library comes first; the user's own follow.
  const char* preload = std::getenv("LD_PRELOAD");
  const char* rest = preload == nullptr ? nullptr : std::strchr(preload, ':');
  if (preload != nullptr && std::strstr(preload, "libwalkhammer_agent") != nullptr) {
    if (rest != nullptr)
      setenv("LD_PRELOAD", std::string(rest + 1).c_str(), 1);
    else
      unsetenv("LD_PRELOAD");
  }
  unsetenv(kStateVariable);
}

}  // namespace

jvmtiEventCallbacks AgentCallbacks() {
  jvmtiEventCallbacks callbacks{};
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.CompiledMethodLoad = OnCompiled;
  callbacks.CompiledMethodUnload = OnUncompiled;
  callbacks.VMDeath = OnVmDeath;
  return callbacks;
}

std::vector<jvmtiEvent> AgentEvents() {
  return {JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END, JVMTI_EVENT_COMPILED_METHOD_LOAD,
          JVMTI_EVENT_COMPILED_METHOD_UNLOAD, JVMTI_EVENT_VM_DEATH};
}

void AttachAsDaemon(JavaVM* vm, const char* name) {
  JavaVMAttachArgs arguments{JNI_VERSION_1_8, const_cast<char*>(name), nullptr};
  void* env = nullptr;
  vm->AttachCurrentThreadAsDaemon(&env, &arguments);
}

}  // namespace walkhammer::stress

using walkhammer::stress::Agent;

extern "C" {

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  walkhammer::StressState* state = walkhammer::stress::OpenStressState(options);
  if (state == nullptr) return JNI_ERR;
  walkhammer::stress::ForgetEnvironment();
  walkhammer::stress::the_vm = vm;
  Agent::Create(*state);
  state->pid.store(getpid());
  state->phase.store(walkhammer::AgentPhase::kLoaded);
  jvmtiEnv* jvmti = walkhammer::NewJvmti(vm);
  if (jvmti == nullptr) return JNI_ERR;
  jvmtiEventCallbacks callbacks{};
  callbacks.VMInit = walkhammer::stress::OnVmInit;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_VM_INIT, nullptr);
  return JNI_OK;
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM* vm, char* options, void*) {
  walkhammer::StressState* state = walkhammer::stress::OpenStressState(options);
  if (state == nullptr) return JNI_ERR;
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_8) != JNI_OK) return JNI_ERR;
  if (Agent::Get() != nullptr) {
    std::fprintf(stderr, "walkhammer: this JVM was attached to before; start it again\n");
    return JNI_ERR;
  }
  state->pid.store(getpid());
  state->phase.store(walkhammer::AgentPhase::kLoaded);
  Agent::Create(*state)->Start(vm, static_cast<JNIEnv*>(env));
  return JNI_OK;
}

}  // extern "C"
