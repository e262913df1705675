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

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/include/asgst_iterator.h"
#include "harness/jvm/live/boot.h"

namespace walkhammer::asgst {

using InHandler = std::function<void(ucontext_t*)>;  // must be signal-safe

class LiveJvm {
 public:
  // The first call creates the JVM and attaches libasgst to it. The thread that runs all tests must
  // make that call.
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
  // Runs `handler` in a signal handler in Api.probe(), which `method` of wh.Api calls.
  void InProbe(const char* method, const InHandler& handler);

  LiveJvm& live_ = LiveJvm::Get();
};

// CLASS.NAME(PARAMETERS)RESULT; "?" if the JVM does not know the method.
std::string NameOf(jmethodID id);
std::string NameOf(ASGST_Method method);

// The answer of a function of asgst.h.
struct Answer {
  static constexpr int kDepth = 64;
  ASGST_CallFrame frames[kDepth];
  ASGST_CallTrace trace{-99, frames, nullptr};

  jint count() const { return trace.num_frames; }
  // The method of frame `n`, from the newest on, or from the oldest on with -1, -2 and so on.
  std::string NameAt(int n) const {
    if (n < 0) n += count();
    return n < 0 || n >= count() ? "none" : NameOf(frames[n].java_frame.method_id);
  }
};

// Waits until `reached` returns true; false if it does not within about ten seconds.
bool WaitFor(const std::function<bool()>& reached);

// Runs `handler` in each SIGPROF of any thread, on the thread's signal stack if it has one, until a
// call with null. `handler` must live until then.
void SetHandler(const InHandler* handler);
// Runs `handler` in a signal handler of the current thread.
void RaiseHere(const InHandler& handler);
// Runs `handler` in a signal handler of `thread`; false if `handler` has not returned within ten
// seconds.
bool RaiseOn(pthread_t thread, const InHandler& handler);

// Calls body(iterator) with an iterator from `context` on. Signal-safe, if `body` is.
template <typename Body>
int Iterate(ucontext_t* context, Body body) {
  return ASGST_RunWithIterator(
      context, 0, [](ASGST_Iterator* iterator, void* own) { (*static_cast<Body*>(own))(iterator); },
      &body);
}

// The field of java.lang.Thread that says what the thread does: in its holder from JDK 19 on.
class ThreadStatusField {
 public:
  ThreadStatusField(JNIEnv* env, jobject thread) : env_(env), in_(thread) {
    jclass klass = env->FindClass("java/lang/Thread");
    if (jfieldID holder = env->GetFieldID(klass, "holder", "Ljava/lang/Thread$FieldHolder;");
        holder != nullptr) {
      in_ = env->GetObjectField(thread, holder);
      klass = env->FindClass("java/lang/Thread$FieldHolder");
    }
    env->ExceptionClear();
    field_ = env->GetFieldID(klass, "threadStatus", "I");
  }
  jint Get() const { return env_->GetIntField(in_, field_); }
  void Set(jint status) const { env_->SetIntField(in_, field_, status); }

 private:
  JNIEnv* const env_;
  jobject in_;
  jfieldID field_;
};

// A thread of the JVM that runs a method of wh.Api, or `body`, until this object is destroyed. The
// destructor sets Api.stop.
class RunningMethod {
 public:
  explicit RunningMethod(const char* method)
      : RunningMethod([method] { LiveJvm::Get().Call(method); }) {}
  explicit RunningMethod(const std::function<void()>& body);
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

// A thread in the native method Api.probe(), called by interpProbe(), until this object is
// destroyed.
class RunningProbe {
 public:
  RunningProbe() {
    EXPECT_TRUE(WaitFor([&] { return in_native_.load(); }));
  }
  ~RunningProbe() { leave_ = true; }
  RunningMethod& thread() { return thread_; }

 private:
  std::atomic<bool> in_native_{false}, leave_{false};
  RunningMethod thread_{[this] {
    LiveJvm& live = LiveJvm::Get();
    live.on_probe = [this] {
      in_native_ = true;
      while (!leave_) std::this_thread::yield();
    };
    live.Call("interpProbe");
  }};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_LIVE_JVM_H_
