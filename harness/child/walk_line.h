// SPDX-License-Identifier: Apache-2.0
// WalkLine: the straight line for one request: journal, resolve, guarded walker call, judge, count,
// hand findings to the parent; once for each walker of the job, each shown the same. Runs on the
// scene's own thread (SceneStage::Run), or on an EngineThread that stands in for it, while the JVM
// stands at a safepoint. Signal-safe: the steps between journal and judge yes; the rest no.
#ifndef WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
#define WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_

#include <ucontext.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/failing_loads.h"
#include "harness/ipc/answers.h"
#include "harness/ipc/shared_state.h"
#include "harness/jvm/live/methods.h"
#include "harness/jvm/live/walked_statics.h"
#include "harness/oracles/observation.h"
#include "harness/request/walker_table.h"
#include "harness/scenes/address_map.h"
#include "harness/scenes/scenes.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class WalkLine {
 public:
  WalkLine(SharedState& shared, const AddressMap& address_map, const MethodRegistry& methods,
           std::span<const std::unique_ptr<Walker>> walkers);

  // Walks `request`. `scene` must be the request's scene; the calling thread must be the scene's,
  // or stand in for it. `sequence` is the request's number in the journal. Returns false if this
  // child must be retired.
  bool Walk(ParkedScene& scene, const WalkRequest& request, uint64_t sequence);

  // The first walker's answer in the last Walk; its frames may be overwritten by now.
  const Trace& walked() const { return walked_; }
  const Fault& fault() const { return fault_; }  // of that answer, if the walker did not return
  // DigestOf that answer; 0 unless KeepDigests was called before.
  uint32_t digest() const { return digest_; }
  void KeepDigests() { keeps_digests_ = true; }
  // How a walker and the walker before it differed in the last Walk (the last such pair).
  Disagreement differed() const { return differed_; }

  // Lets requests with a `fault` be walked: a Walk of one needs CountLoads of the same request,
  // apart from its number, before. `loads` is kept and must outlive this.
  void FailLoads(FailingLoads& loads) { loads_ = &loads; }
  // After each walk that a crash or hang ends, these are given up. The walks are made at a
  // safepoint, so no other thread initialises them.
  void GiveUpAfterCrashes(WalkedStatics statics) { statics_ = std::move(statics); }
  // Traces the undisturbed walk of `request` by the first walker; `sequence`: for the journal.
  // Returns its FailingLoads::count(), or kUnable as FailingLoads::Trace does.
  Result<uint32_t> CountLoads(ParkedScene& scene, const WalkRequest& request, uint64_t sequence);

  // True if it is the first walker's turn. Signal-safe: yes.
  bool is_firsts_turn() const { return turn_ == 0; }

  // Walks the scene as it is, in_Java and in_native. Returns true if all walkers gave the JVMTI
  // truth both times; otherwise `difference` (`size` bytes, may be null) gets one sentence.
  bool WalkPristine(ParkedScene& scene, char* difference, size_t size);

 private:
  struct Undo {
    uint64_t* slot;
    uint64_t word;
  };
  struct Presented {
    Registers registers;
    uint64_t anchor_sp, anchor_pc, anchor_fp;
    int32_t state;
  };
  const Trace& trace() const { return seen_.trace; }  // of the last call
  const WalkerInfo& info(int place) const { return AllWalkers()[WalkerAt(shared_.job, place)]; }

  void SaveReplay();
  uint64_t Resolve(const ParkedScene& scene, const Value& value, uint64_t pristine) const;
  uint64_t Unsigned(const ParkedScene& scene, const Value& value, uint64_t pristine) const;
  Presented ResolveAll(const ParkedScene& scene, const WalkRequest& request) const;
  int ApplyEdits(const ParkedScene& scene, const WalkRequest& request, Undo* undo) const;
  bool WalkInTurn(ParkedScene& scene, const WalkRequest& request, uint64_t sequence);
  bool WalkPristineInTurn(ParkedScene& scene, const WalkRequest& request, char* difference,
                          size_t size);
  void WriteJournal(const WalkRequest& request);
  void CallWalker(ParkedScene& scene, const WalkRequest& request, const Presented& presented);
  // As CallWalker; the load request.fault fails, if the walk comes to it.
  void CallFailing(ParkedScene& scene, const WalkRequest& request, const Presented& presented);
  void CountFailed();
  // After a failed load that the walker got over: reports it if the thread's next walk is not true.
  // False if the walk after that is not true either: this child must be retired.
  bool RecoversWell(ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
                    const Presented& presented);
  // Fills seen_ from the last call.
  void Observe(const ParkedScene& scene, const WalkRequest& request);
  // After a call that the guard has left: true if this child may go on.
  bool ContainedWell(ParkedScene& scene, const WalkRequest& request);
  // True if the current walker still walks the undisturbed scene truly after the guard has left a
  // call. This walk is neither journaled nor judged, since `request`, which came before it, is to
  // blame. `detail` gets what was wrong with an answer.
  bool StillWalksTruly(ParkedScene& scene, const WalkRequest& request, char* detail, size_t size);
  void Judge(const ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
             const Presented& presented);
  // Undoes what the walker wrote into the lowest part of the stack; returns the first such word.
  StackWrite TakeBackWrites(const ParkedScene& scene) const;
  void Report(const WalkRequest& request, uint64_t sequence, const Presented& presented,
              uint8_t oracle, uint8_t outcome, const char* detail);
  void Count(const WalkRequest& request);
  // Counts how this answer compares with that of the walker before, if there was one. KeepForNext
  // keeps this answer for the next comparison.
  void CountAgreement(const WalkRequest& request);
  void KeepForNext();
  PcRegion RegionOf(const Value& pc) const;
  // Before the first walk of `request`: what is the same in each walker's turn.
  void Take(const WalkRequest& request);

  SharedState& shared_;
  const AddressMap& address_map_;
  const MethodRegistry& methods_;
  const std::span<const std::unique_ptr<Walker>> walkers_;  // by their place in the job
  int turn_ = 0;                                            // place of the current walker
  bool uncontained_ = false;  // the current walk has no guard: Job::uncontained
  WalkedStatics statics_;
  FailingLoads* loads_ = nullptr;
  bool tracing_ = false;            // the current walk is one of FailingLoads::Trace
  std::vector<Frame> undisturbed_;  // frames of the last such walk
  ucontext_t context_{};
  Trace walked_{};
  bool keeps_digests_ = false;
  uint32_t digest_ = 0;
  Fault fault_{};
  Realism realism_{};  // of the current request
  PcRegion region_{};  // of its pc
  Disagreement differed_{};
  Observation seen_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
