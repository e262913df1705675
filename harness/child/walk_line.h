// WalkLine: the straight line for one request: resolve, journal, guarded walker call, judge,
// count, hand findings to the parent. Runs on the scene's own thread while the JVM stands at a
// safepoint (SceneStage::Run).
// Signal-safe: what stands between journal and judge is; the rest no.
#ifndef WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
#define WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_

#include <ucontext.h>

#include "harness/jvm/methods.h"
#include "harness/oracles/observation.h"
#include "harness/record/shared_state.h"
#include "harness/scenes/landscape.h"
#include "harness/scenes/scenes.h"
#include "harness/walkers/walker.h"
#include "harness/walkers/walker_table.h"

namespace walkhammer {

class WalkLine {
 public:
  WalkLine(SharedState& shared, const Landscape& landscape, const MethodRegistry& methods,
           Walker& walker, const WalkerInfo& info);

  // Walks `request` on its scene, which must be `scene`, from the calling thread, which must be
  // the scene's. `sequence` names it in the journal. False if this child must be retired.
  bool Walk(ParkedScene& scene, const WalkRequest& request, uint64_t sequence);

  // What the last Walk came to; its frames may be gone.
  const Trace& walked() const { return walked_; }

  // Walks the scene as it is, in_Java and in_native; true if both are the JVMTI
  // truth. `difference` (if not null) gets one sentence when not.
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
  // What GuardedCall runs.
  struct Call {
    Walker* walker;
    WalkInput input;
    Trace trace;
  };

  int FramesAsText(char* text, size_t size) const;
  void SaveReplay();
  uint64_t Resolve(const ParkedScene& scene, const Value& value, uint64_t pristine) const;
  Presented ResolveAll(const ParkedScene& scene, const WalkRequest& request) const;
  int ApplyEdits(const ParkedScene& scene, const WalkRequest& request, Undo* undo) const;
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
  void Report(const ParkedScene& scene, const WalkRequest& request, uint64_t sequence,
              const Presented& presented, uint8_t oracle, uint8_t outcome, const char* detail);
  void Count(const WalkRequest& request);
  PcRegion RegionOf(const Value& pc) const;
  int WantsReport(uint64_t key, const WalkRequest& request);
  void FillFinding(RawFinding& finding, const ParkedScene& scene, uint8_t oracle,
                   uint8_t outcome) const;

  SharedState& shared_;
  const Landscape& landscape_;
  const MethodRegistry& methods_;
  Walker& walker_;
  const WalkerInfo& info_;
  ucontext_t context_{};
  Call call_{};
  Trace walked_{};
  Observation seen_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_WALK_LINE_H_
