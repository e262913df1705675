// SPDX-License-Identifier: Apache-2.0
// What the profilers of this folder share: the JVM's threads, and a thread that sends SIGPROF to
// each of them, every five milliseconds by default. The profilers are written as the
// documents' readers would write them: they know nothing of libasgst. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_SAMPLING_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_SAMPLING_H_

#include <jvmti.h>
#include <profile2.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>
#include <thread>

// The threads that run, by JVMTI's events. Signals are sent with the mutex held, so no thread ends
// before it gets its signal.
class SampledThreads {
 public:
  void Add() {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads_.insert(pthread_self());
  }
  void Remove() {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads_.erase(pthread_self());
  }
  void Signal() {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const pthread_t thread : threads_) pthread_kill(thread, SIGPROF);
  }

 private:
  std::mutex mutex_;
  std::set<pthread_t> threads_;
};

// What a sample's answer was. Signal-safe: yes.
class Counts {
 public:
  // `result`: what the function that samples answered in the signal handler. A thread that has no
  // Java frames, or ends, is not a failure: its frames of C code make a trace of another kind.
  void Add(int result, void* ucontext) {
    if (result == ASGST_JAVA_TRACE)
      samples++;
    else if (result == ASGST_THREAD_EXIT || IsWithoutJava(ucontext))
      without_java++;
    else
      failed++;
    if (result < -7) other_codes++;
  }
  // Checks one frame's text: CLASS.METHOD(PARAMETERS)RESULT.
  void AddName(const std::string& klass, const std::string& method) {
    names++;
    if (klass.empty() || method.empty()) return void(unknown_names++);
    for (const char c : klass + method)
      if (std::isprint(static_cast<unsigned char>(c)) == 0) return void(wrong_names++);
  }
  void Print(const char* client) const {
    std::fprintf(stderr,
                 "%s: samples %ld failed %ld without-java %ld other-codes %ld names %ld "
                 "unknown-names %ld wrong-names %ld\n",
                 client, samples.load(), failed.load(), without_java.load(), other_codes.load(),
                 names.load(), unknown_names.load(), wrong_names.load());
  }

  std::atomic<long> wrong_names{0};

 private:
  static bool IsWithoutJava(void* ucontext) {
    return ASGST_RunWithIterator(
               ucontext, ASGST_INCLUDE_NON_JAVA_FRAMES, [](ASGST_Iterator*, void*) {}, nullptr) ==
           ASGST_NON_JAVA_TRACE;
  }

  std::atomic<long> samples{0}, failed{0}, without_java{0}, other_codes{0}, names{0},
      unknown_names{0};
};

// Asks for a method's names with buffers on the stack that hold nothing yet, as the documents do.
// A null text would end the process here.
inline std::string NameOf(ASGST_Method method, Counts& counts) {
  char name[100], signature[100], klass[100];
  ASGST_MethodInfo of_method;
  of_method.method_name = name;
  of_method.method_name_length = sizeof name;
  of_method.signature = signature;
  of_method.signature_length = sizeof signature;
  of_method.generic_signature = nullptr;
  ASGST_GetMethodInfo(method, &of_method);
  ASGST_ClassInfo of_class;
  of_class.class_name = klass;
  of_class.class_name_length = sizeof klass;
  of_class.generic_class_name = nullptr;
  ASGST_GetClassInfo(of_method.klass, &of_class);
  const std::string text = of_class.class_name;
  counts.AddName(text, of_method.method_name);
  return text + "." + of_method.method_name + of_method.signature;
}

// Samples until the end of the process, or until Stop.
class Sampler {
 public:
  void Start(SampledThreads& threads, void (*handler)(int, siginfo_t*, void*),
             std::chrono::microseconds interval = std::chrono::milliseconds(5)) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    thread_ = std::thread([this, &threads, interval] {
      while (!stop_) {
        std::this_thread::sleep_for(interval);
        threads.Signal();
      }
    });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// Enables an agent's events. Returns what Agent_OnLoad returns.
inline jint Listen(JavaVM* vm, jvmtiEventVMInit on_init, jvmtiEventVMDeath on_death,
                   jvmtiEventThreadStart on_start, jvmtiEventThreadEnd on_end) {
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = on_init;
  callbacks.VMDeath = on_death;
  callbacks.ThreadStart = on_start;
  callbacks.ThreadEnd = on_end;
  jvmtiEnv* jvmti = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (const jvmtiEvent event : {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH,
                                 JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END})
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  return JNI_OK;
}

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_SAMPLING_H_
