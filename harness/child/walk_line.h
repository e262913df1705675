// SPDX-License-Identifier: Apache-2.0
// WalkLine: the straight line for one request: resolve, journal, guarded walker call, judge,
// count, hand findings to the parent; once for each walker of the job, each shown the same. Runs on
// the scene's own thread while the JVM stands at a safepoint (SceneStage::Run). Signal-safe: what
// stands between journal and judge is; the rest no.
#ifndef WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
#define WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_

#include <ucontext.h>

#include <memory>
#include <span>

#include "harness/jvm/live/methods.h"
#include "harness/oracles/observation.h"
#include "harness/request/walker_table.h"
#include "harness/scenes/landscape.h"
#include "harness/scenes/scenes.h"
#include "harness/shared/shared_state.h"
#include "harness/walkers/walker.h"

namespace walkhammer {

class WalkLine {
 public:
  WalkLine(SharedState& shared, const Landscape& landscape, const MethodRegistry& methods,
           std::span<const std::unique_ptr<Walker>> walkers);

  // Walks `request` on its scene, which must be `scene`, from the calling thread, which must be
  // the scene's. `sequence` names it in the journal. False if this child must be retired.
  bool Walk(ParkedScene& scene, const WalkRequest& request, uint64_t sequence);

  // What the first walker came to in the last Walk; its frames may be gone.
  const Trace& walked() const { return walked_; }
  const Fault& fault() const { return fault_; }  // where it did not return
  // How the answers of the last two walkers of it that differed did so.
  Disagreement differed() const { return differed_; }

  // Whether it is the first walker's turn. Signal-safe.
  bool is_firsts_turn() const { return turn_ == 0; }

  // Walks the scene as it is, in_Java and in_native; true if all walkers came to the JVMTI truth
  // both times. `difference` (if not null) gets one sentence when not.
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
  // Fills seen_ with the last call.
  void Observe(const ParkedScene& scene, const WalkRequest& request);
  // Whether the walk line's own leaving of a call has left the walker sane: a pristine walk that
  // is neither journaled nor judged, since the request before it would be to blame.
  bool StillWalksTruly(ParkedScene& scene);
  void Judge(const ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
             const Presented& presented);
  // Restores what the walker wrote into the nearest part of the stack.
  StackWrite TakeBackWrites(const ParkedScene& scene) const;
  void Report(const WalkRequest& request, uint64_t sequence, const Presented& presented,
              uint8_t oracle, uint8_t outcome, const char* detail);
  void Count(const WalkRequest& request);
  // With the answer of the walker before, if there was one; and keeps this one for the next.
  void CountAgreement(const WalkRequest& request);
  void KeepForNext();
  PcRegion RegionOf(const Value& pc) const;

  SharedState& shared_;
  const Landscape& landscape_;
  const MethodRegistry& methods_;
  const std::span<const std::unique_ptr<Walker>> walkers_;  // by their place in the job
  int turn_ = 0;                                            // whose it is
  ucontext_t context_{};
  Trace trace_{};  // of the last call
  Trace walked_{};
  Fault fault_{};
  Disagreement differed_{};
  Observation seen_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
