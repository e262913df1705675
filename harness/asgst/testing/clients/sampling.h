// SPDX-License-Identifier: Apache-2.0
// What the profilers of this folder share: the JVM's threads, and a thread that sends SIGPROF to
// each of them, every five milliseconds by default. The profilers use only what the documents
// describe, and nothing of libasgst. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_SAMPLING_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_SAMPLING_H_

#include <jvmti.h>
#include <profile2.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <mutex>
#include <string>
#include <thread>

// The threads that run, by JVMTI's events. Signals are sent with the mutex held, so no thread ends
// before it gets its signal.
class SampledThreads {
 public:
  void Add() {
    clockid_t clock{};
    pthread_getcpuclockid(pthread_self(), &clock);
    const std::lock_guard<std::mutex> lock(mutex_);
    threads_[pthread_self()] = {clock, TimeOf(clock)};
  }
  void Remove() {
    const std::lock_guard<std::mutex> lock(mutex_);
    threads_.erase(pthread_self());
  }
  // Signals the threads that have used at least `least` CPU time since their last signal; 0: all.
  void Signal(std::chrono::nanoseconds least) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (auto& [thread, used] : threads_) {
      const auto now = least.count() == 0 ? least : TimeOf(used.clock);
      if (least.count() != 0 && now - used.at_signal < least) continue;
      used.at_signal = now;
      pthread_kill(thread, SIGPROF);
    }
  }

 private:
  struct Used {
    clockid_t clock;
    std::chrono::nanoseconds at_signal;
  };

  static std::chrono::nanoseconds TimeOf(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  }

  std::mutex mutex_;
  std::map<pthread_t, Used> threads_;
};

// What a sample's answer was. Signal-safe: yes.
class Counts {
 public:
  // `result`: what the function that samples answered in the signal handler. A thread that has no
  // Java frames, or ends, is not a failure: its frames of C code make a trace of another kind. What
  // a full queue refuses, without a walk, is counted apart.
  void Add(int result, void* ucontext) {
    if (result == ASGST_JAVA_TRACE)
      samples++;
    else if (result == ASGST_ENQUEUE_FULL_QUEUE)
      full_queue++;
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
                 "%s: samples %ld failed %ld full-queue %ld without-java %ld other-codes %ld "
                 "names %ld unknown-names %ld wrong-names %ld\n",
                 client, samples.load(), failed.load(), full_queue.load(), without_java.load(),
                 other_codes.load(), names.load(), unknown_names.load(), wrong_names.load());
  }

  std::atomic<long> wrong_names{0};

 private:
  static bool IsWithoutJava(void* ucontext) {
    return ASGST_RunWithIterator(
               ucontext, ASGST_INCLUDE_NON_JAVA_FRAMES, [](ASGST_Iterator*, void*) {}, nullptr) ==
           ASGST_NON_JAVA_TRACE;
  }

  std::atomic<long> samples{0}, failed{0}, full_queue{0}, without_java{0}, other_codes{0}, names{0},
      unknown_names{0};
};

// A method\x27s names, asked for with buffers that hold nothing yet, as the documents do.
// Signal-safe: yes.
struct Names {
  explicit Names(ASGST_Method asked) {
    of_method.method_name = method;
    of_method.method_name_length = sizeof method;
    of_method.signature = signature;
    of_method.signature_length = sizeof signature;
    of_method.generic_signature = nullptr;
    ASGST_GetMethodInfo(asked, &of_method);
    of_class.class_name = klass;
    of_class.class_name_length = sizeof klass;
    of_class.generic_class_name = nullptr;
    ASGST_GetClassInfo(of_method.klass, &of_class);
  }
  Names(const Names&) = delete;
  Names& operator=(const Names&) = delete;

  // The hash of all three texts; 0: one of them is not known.
  uint64_t Hash() const {
    uint64_t hash = 14695981039346656037u;
    for (const char* text : {klass, method, signature}) {
      if (*text == 0) return 0;
      do hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211u;
      while (*text++ != 0);
    }
    return hash;
  }

  ASGST_MethodInfo of_method;
  ASGST_ClassInfo of_class;
  char method[100], signature[100], klass[100];
};

// A null text would end the process here.
inline std::string NameOf(ASGST_Method method, Counts& counts) {
  const Names names(method);
  const std::string klass = names.of_class.class_name;
  counts.AddName(klass, names.of_method.method_name);
  return klass + "." + names.of_method.method_name + names.of_method.signature;
}

// The newest frame that has bytecodes, as a walk found it. Signal-safe: yes.
struct Leaf {
  // The iterator must be before its first frame. False: there is none.
  bool Take(ASGST_Iterator* iterator) {
    ASGST_Frame frame;
    while (ASGST_NextFrame(iterator, &frame) == 1) {
      if (frame.type != ASGST_FRAME_JAVA && frame.type != ASGST_FRAME_JAVA_INLINED) continue;
      const Names names(frame.method);
      *this = {frame.method, frame.bci,    frame.type,
               frame.pc,     names.Hash(), names.of_method.class_idnum};
      return true;
    }
    return false;
  }
  bool IsFrame(const ASGST_Frame& frame) const {
    return frame.method == method && frame.bci == bci && frame.type == type;
  }

  ASGST_Method method = nullptr;
  int bci = 0;
  uint8_t type = 0;
  void* pc = nullptr;
  uint64_t name = 0;  // Names::Hash
  jlong class_idnum = -1;
};

// Samples until the end of the process, or until Stop.
class Sampler {
 public:
  // An agent's options: US[,cpu][,...]: microseconds between a thread's signals; "cpu": of its CPU
  // time, so that a thread that waits gets none. Without a number the interval stays.
  void SetOptions(const char* options) {
    if (options == nullptr) return;
    const int us = std::atoi(options);
    if (us > 0) interval_ = std::chrono::microseconds(us);
    if (std::strstr(options, ",cpu") != nullptr) of_cpu_time_ = interval_;
  }
  // Between signals by CPU time; 0: they come by the clock on the wall.
  std::chrono::nanoseconds cpu_time() const { return of_cpu_time_; }
  void Start(SampledThreads& threads, void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigaction(SIGPROF, &action, nullptr);
    thread_ = std::thread([this, &threads] {
      while (!stop_) {
        std::this_thread::sleep_for(interval_);
        threads.Signal(of_cpu_time_);
      }
    });
  }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::chrono::microseconds interval_{5000}, of_cpu_time_{0};
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
