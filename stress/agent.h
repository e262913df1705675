// SPDX-License-Identifier: Apache-2.0
// Agent: walkhammer inside a JVM under load. The agent chooses a sampler, handles the signals, and
// periodically does what no signal handler may do.
// Signal-safe: OnSample and OnNested yes; the rest no.
#ifndef WALKHAMMER_STRESS_AGENT_H_
#define WALKHAMMER_STRESS_AGENT_H_

#include <jvmti.h>
#include <ucontext.h>

#include <memory>
#include <string>
#include <string_view>

#include "harness/jvm/live/boot.h"
#include "harness/jvm/structs/code_finder.h"
#include "stress/code_recorder.h"
#include "stress/sample_line.h"
#include "stress/sampler.h"
#include "stress/stepper.h"
#include "stress/thread_tracker.h"
#include "stress/walk_service.h"

namespace walkhammer::stress {

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
  // `record`: compile_info of the event.
  void CodeLoaded(jmethodID method, const void* code, jint size, const void* record);
  void CodeUnloaded(const void* code);

  const Jvm& jvm() const { return *jvm_; }
  MethodRegistry& methods() { return jvm_->methods(); }
  ThreadTracker& threads() { return threads_; }
  // Body of the manager's thread; returns when the sampling has ended.
  void Manage(JNIEnv* env);

 private:
  explicit Agent(StressState& state) : state_(state), threads_(state) {}
  Status TryStart(JavaVM* vm, JNIEnv* env);
  Status InstallHandlers();
  Status ChooseAndStartSampler();
  void RecordCode();
  void RecordStub(std::string_view name, uint64_t begin, uint64_t end);
  int EntryOf(const FoundCode& nmethod) const;
  void RecordPlaces();
  void LearnThreadStarts(JNIEnv* env);
  void CheckHandlers();
  void MeasureMemory();
  void UpdateModules();
  bool StartManager(JNIEnv* env);
  void TakeSample(SampledThread& thread, ucontext_t& context);
  static void OnSample(int signal, siginfo_t* info, void* context);
  static void OnNested(int signal, siginfo_t* info, void* context);
  static std::span<const Frame> AskJvm(SampledThread& thread);

  StressState& state_;
  Jvm* jvm_ = nullptr;
  CodeFinder code_;
  DescribedCode described_;
  ThreadTracker threads_;
  std::unique_ptr<SampleLine> line_;
  std::unique_ptr<WalkService> service_;
  std::unique_ptr<CodeRecorder> recorder_;
  std::unique_ptr<PlaceRecorder> places_;
  std::unique_ptr<Sampler> sampler_;
  std::unique_ptr<Stepper> stepper_;
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_AGENT_H_
