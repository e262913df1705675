// SPDX-License-Identifier: Apache-2.0
// LiveJvm: a JVM in this process for tests of libasgst.so's functions, with the class wh.Api.
// $WALKHAMMER_JDK names the JDK; without it, the newest installed JDK is used. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_LIVE_JVM_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_LIVE_JVM_H_

#include <gtest/gtest.h>
#include <jni.h>
#include <pthread.h>
#include <ucontext.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/jvm/live/boot.h"

namespace walkhammer::asgst {

using InHandler = std::function<void(ucontext_t*)>;  // must be signal-safe

class LiveJvm {
 public:
  // Made at the first call, which the thread that runs all tests must make, and attached to
  // libasgst.
  static LiveJvm& Get();

  Jvm& jvm() { return *jvm_; }
  JNIEnv* env() const { return jvm_->env(); }  // of the current thread
  jclass api() const { return api_; }          // wh.Api
  // What asgst_error() returned after an asgst_attach that failed, before the one that succeeded.
  const std::string& attach_error() const { return attach_error_; }

  // Runs a static method of wh.Api without arguments; the test fails if it throws.
  void Call(const char* method);
  // wh.Api.probe() calls this function, on its own thread.
  std::function<void()> on_probe = [] {};
  void SetStop(bool stop);

 private:
  Jvm* jvm_ = nullptr;
  jclass api_ = nullptr;
  std::string attach_error_;
};

class LiveTest : public testing::Test {
 protected:
  void TearDown() override {
    live_.on_probe = [] {};
  }
  JavaThreadView Thread() { return live_.jvm().ThreadOf(live_.env()); }

  LiveJvm& live_ = LiveJvm::Get();
};

// CLASS.NAME(PARAMETERS)RESULT; "?" if the JVM does not know the method.
std::string NameOf(jmethodID id);
std::string NameOf(ASGST_Method method);

// False if `reached` does not become true within ten seconds or so.
bool WaitFor(const std::function<bool()>& reached);

// Runs `handler` in each SIGPROF of any thread, on the thread's signal stack if it has one, until a
// call with null. `handler` must live until then.
void SetHandler(const InHandler* handler);
// Runs `handler` in a signal handler of the current thread.
void RaiseHere(const InHandler& handler);
// Runs `handler` in a signal handler of `thread`; false if `handler` has not returned within ten
// seconds.
bool RaiseOn(pthread_t thread, const InHandler& handler);

// A thread that runs a method of wh.Api until this object is destroyed.
class RunningMethod {
 public:
  explicit RunningMethod(const char* method);
  ~RunningMethod();
  bool Raise(const InHandler& handler) { return RaiseOn(thread_.native_handle(), handler); }
  // Parks the thread in its signal handler while `body` runs with the handler's context.
  void WhileParked(const std::function<void(ucontext_t*)>& body);
  JNIEnv* env() const { return env_; }
  int os_thread() const { return os_thread_; }

 private:
  std::atomic<JNIEnv*> env_{nullptr};
  std::atomic<int> os_thread_{0};
  std::thread thread_;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_LIVE_JVM_H_
