// SPDX-License-Identifier: Apache-2.0
// Agent: walkhammer inside a JVM under load. The agent chooses a sampler, keeps the table of
// threads, handles the signals, and does once in a while what no signal handler may do.
// Signal-safe: OnSample and OnNested yes; the rest no.
#ifndef WALKHAMMER_STRESS_AGENT_H_
#define WALKHAMMER_STRESS_AGENT_H_

#include <jvmti.h>
#include <ucontext.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "harness/jvm/live/boot.h"
#include "harness/jvm/structs/code_finder.h"
#include "stress/code_recorder.h"
#include "stress/sample_line.h"
#include "stress/sampler.h"
#include "stress/stepper.h"
#include "stress/walk_service.h"

namespace walkhammer::stress {

inline constexpr int kNestedSignalOffset = 8;  // from SIGRTMIN

// What is read of a Java thread that was there before the agent.
struct ExistingThread {
  JavaThreadView view;
  int tid = 0;
  uint64_t stack_base = 0, stack_limit = 0;
};

inline int NestedSignal() { return SIGRTMIN + kNestedSignalOffset; }

class Agent {
 public:
  // Makes the one agent of this process, on the state that the supervisor made; never destroyed.
  // Later calls return the same agent.
  static Agent* Create(StressState& state);
  static Agent* Get();  // null before Create

  // Begins to sample; the JVM must be initialised. A failure sets the state's message and kUnable.
  void Start(JavaVM* vm, JNIEnv* env);
  // Ends the sampling for good, and raises the state's phase to `phase`.
  void Stop(AgentPhase phase);

  // JVMTI's events.
  void ThreadStarted(JNIEnv* env, jthread thread);  // on that thread
  void ThreadEnded();                               // on that thread
  // `record`: compile_info of the event.
  void CodeLoaded(jmethodID method, const void* code, jint size, const void* record);
  void CodeUnloaded(const void* code);

  const Jvm& jvm() const { return *jvm_; }
  MethodRegistry& methods() { return jvm_->methods(); }
  bool sampling() const { return sampling_.load(std::memory_order_relaxed); }
  // Body of the manager's thread; returns when the sampling has ended.
  void Manage(JNIEnv* env);

 private:
  explicit Agent(StressState& state) : state_(state), threads_(state) {}
  Status TryStart(JavaVM* vm, JNIEnv* env);
  Status ReadStructs(JNIEnv* env);
  SampleFacts FactsOfSamples() const;
  Status InstallHandlers();
  Status ChooseAndStartSampler();
  void RecordCode();
  void RecordPlaces();
  bool Read(JNIEnv* env, jthread object, ExistingThread& there) const;
  void AddExistingThread(JNIEnv* env, jthread object);
  void AddExistingThreads(JNIEnv* env);
  void AddNativeThreads();
  void Arm(SampledThread& thread);
  void Disarm(SampledThread& thread);
  std::string NameOf(JNIEnv* env, jthread object) const;
  void CheckInterposition();
  void LearnThreadStarts(JNIEnv* env);
  void CheckHandlers();
  void MeasureMemory();
  void UpdateModules();
  jobject LocalRef(JNIEnv* env, SampledThread& thread);
  bool StartManager(JNIEnv* env);
  void UseFaultStack(SampledThread& thread, WalkingHandler handler);
  void TakeSample(SampledThread& thread, ucontext_t& context);
  static void OnSample(int signal, siginfo_t* info, void* context);
  static void OnNested(int signal, siginfo_t* info, void* context);
  static std::span<const Frame> AskJvm(SampledThread& thread);

  StressState& state_;
  Jvm* jvm_ = nullptr;
  CodeFinder code_;
  DescribedCode described_;
  ThreadTable threads_;
  std::unique_ptr<SampleLine> line_;
  std::unique_ptr<WalkService> service_;
  std::unique_ptr<CodeRecorder> recorder_;
  std::unique_ptr<PlaceRecorder> places_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Stepper> stepper_;
  std::atomic<bool> sampling_{false};
  std::mutex objects_;                    // guards SampledThread::object
  std::mutex arming_;                     // one Arm or Disarm at a time
  int os_thread_ = 0, os_thread_id_ = 0;  // offsets: JavaThread::_osthread, OSThread::_thread_id
  jfieldID eetop_ = nullptr;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_AGENT_H_
