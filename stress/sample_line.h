// SPDX-License-Identifier: Apache-2.0
// SampleLine: all steps of one sample: record it in a journal, call the walkers guarded, judge,
// count, hand findings to the supervisor. Runs in the signal handler of the sampled thread, or on a
// walking thread in its place. Signal-safe: Take and what Take calls yes; SetUp no.
#ifndef WALKHAMMER_STRESS_SAMPLE_LINE_H_
#define WALKHAMMER_STRESS_SAMPLE_LINE_H_

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "harness/base/function_ref.h"
#include "harness/ipc/line_state.h"
#include "harness/ipc/stress_state.h"
#include "harness/jvm/live/methods.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/codelet_codes.h"
#include "harness/oracles/observation.h"
#include "harness/request/walker_table.h"
#include "harness/walkers/walker.h"
#include "stress/agreement_counter.h"
#include "stress/described_code.h"
#include "stress/sampled_threads.h"

namespace walkhammer::stress {

// What the walks of one sample need for themselves.
struct WalkSlot {
  std::atomic<int32_t> taken{0};
  GuardSlot guard;
  std::unique_ptr<Walker> walkers[kMaxWalkers];
  // Further ones of the same kinds: see SampleLine::AskAgain.
  std::unique_ptr<Walker> again[kMaxWalkers];
  std::unique_ptr<Walker> witness;  // null: there is none
  Trace answers[kMaxWalkers];       // to the sample; the walkers own their frames
  SampleJournal* journal = nullptr;
  WalkRequest request;
  Observation seen{};
  SampleFacts facts{};
  uint64_t clean_answer = 0;  // hash of the last answer that all oracles accepted, 0: none
  uint64_t other_frames = 0;  // HashOfFrames of seen.other.trace
  bool still = false;         // ThreadStates::StandsStill, or no Java thread
};

// Gets each answer, once judged: the walker's place in the job, and how the answer differs from
// that of the walker before. kCount: there was none, or CanCompare is false for the two.
using OnTrace = FunctionRef<void(int walker, const Trace&, Disagreement)>;

struct SampleOptions {
  // A sample on the thread itself that records little of its stack and does not check the signal
  // mask.
  bool light = false;
  const OnTrace* on_trace = nullptr;
  bool running = false;               // the sampled thread runs on during the walk
  bool nested = false;                // inside another walk
  std::span<const Frame> jvmti = {};  // what GetStackTrace said, if it was asked
};

class SampleLine {
 public:
  SampleLine(StressState& state, const MethodRegistry& methods, const CodeFinder& code,
             const DescribedCode& described)
      : state_(state), methods_(methods), code_(code), described_(described) {}

  // Makes the walkers of all walk slots. `facts`: what is the same for all samples.
  Status SetUp(const WalkerHost& host, const SampleFacts& facts,
               const std::vector<Codelet>& codelets);

  // Takes one sample of `thread`, interrupted at `context`. False: no walk slot was free.
  bool Take(SampledThread& thread, ucontext_t& context, const SampleOptions& options);

  int walker_count() const { return state_.job.walker_count; }
  const CodeletCodes& codelets() const { return codelets_; }
  const DescribedCode& described() const { return described_; }
  const SampleFacts& facts() const { return facts_; }
  bool IsInModule(uint64_t pc) const;
  PcRegion RegionOf(uint64_t pc) const;

 private:
  WalkSlot* Claim();
  // Some samples are asked for once more: not those of steps, nor where the thread runs on.
  bool AsksAgain() const;
  void BindWitness(WalkSlot& slot, const WalkerHost& host);
  void Walk(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
            const SampleOptions& options);
  // In the guard, unless the run is uncontained.
  void Call(WalkSlot& slot, Walker& walker, const WalkInput& input, Trace& trace) const;
  void CallWalker(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
                  Walker& called, const SampleOptions& options);
  bool HasChanged(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker);
  void Count(const WalkSlot& slot, SampledThread& thread, int walker, const SampleOptions& options);
  void KeepForNext(WalkSlot& slot, int walker, const SampleOptions& options) const;
  // Asks the walker the same once more. The second answer is judged like the first, and is to be
  // the same; it is not counted.
  void AskAgain(WalkSlot& slot, SampledThread& thread, ucontext_t& context, int walker,
                const SampleOptions& options);
  // Compares the answers of all walkers with that of the job's witness.
  void AskWitness(WalkSlot& slot, SampledThread& thread, ucontext_t& context);
  bool Judge(WalkSlot& slot);  // true: nothing to report
  void Report(WalkSlot& slot, uint8_t oracle, uint8_t outcome, const char* detail);

  StressState& state_;
  const MethodRegistry& methods_;
  const CodeFinder& code_;
  const DescribedCode& described_;
  CodeletCodes codelets_;
  const AgreementCounter agreement_{state_, code_, described_, codelets_};
  const WalkerInfo* infos_[kMaxWalkers] = {};
  WalkSlot walk_slots_[kWalkSlots];
  std::atomic<uint64_t> sequence_{0};
  SampleFacts facts_{};
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_SAMPLE_LINE_H_
