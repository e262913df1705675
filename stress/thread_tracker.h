// SPDX-License-Identifier: Apache-2.0
// ThreadTracker: learns which threads there are, enters them in the table, and arms and disarms
// them. Signal-safe: sampling yes; the rest no.
#ifndef WALKHAMMER_STRESS_THREAD_TRACKER_H_
#define WALKHAMMER_STRESS_THREAD_TRACKER_H_

#include <jvmti.h>

#include <atomic>
#include <csignal>
#include <mutex>
#include <string>

#include "harness/jvm/live/boot.h"
#include "stress/sampled_threads.h"
#include "stress/sampler.h"

namespace walkhammer::stress {

inline constexpr int kNestedSignalOffset = 8;  // from SIGRTMIN

inline int NestedSignal() { return SIGRTMIN + kNestedSignalOffset; }

class ThreadTracker {
 public:
  explicit ThreadTracker(StressState& state) : state_(state), table_(state) {}

  // Before all else; threads that start or end earlier are ignored. For a JVM with vmStructs, fails
  // if they lack what existing threads take.
  Status SetUp(Jvm& jvm, JNIEnv* env);
  // From now on threads are armed by the sampler, which must live as long as sampling() is true.
  void Begin(Sampler& sampler);
  // Arms no thread any more. False: none was armed.
  bool End() { return sampling_.exchange(false); }
  void DisarmAll();
  // Brings the times of all threads' counts up to date.
  void UpdateClocks();
  bool sampling() const { return sampling_.load(std::memory_order_relaxed); }

  // JVMTI's events, on the thread itself.
  void Started(JNIEnv* env, jthread object);
  void Ended();
  void AddExisting(JNIEnv* env);
  void AddNative();

  // New local reference to the java.lang.Thread; null if the thread has ended.
  jobject LocalRef(JNIEnv* env, SampledThread& thread);
  ThreadTable& table() { return table_; }

 private:
  // What is read of a Java thread that was there before the agent.
  struct ExistingThread {
    JavaThreadView view;
    int tid = 0;
    uint64_t stack_base = 0, stack_limit = 0;
  };

  std::string NameOf(JNIEnv* env, jthread object) const;
  bool Read(JNIEnv* env, jthread object, ExistingThread& there) const;
  void AddExistingOne(JNIEnv* env, jthread object);
  void Arm(SampledThread& thread);
  void Disarm(SampledThread& thread);

  StressState& state_;
  ThreadTable table_;
  Jvm* jvm_ = nullptr;
  Sampler* sampler_ = nullptr;
  std::atomic<bool> sampling_{false};
  std::mutex objects_;                    // guards SampledThread::object
  std::mutex arming_;                     // one Arm or Disarm at a time
  int os_thread_ = 0, os_thread_id_ = 0;  // offsets: JavaThread::_osthread, OSThread::_thread_id
  jfieldID eetop_ = nullptr;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_THREAD_TRACKER_H_
