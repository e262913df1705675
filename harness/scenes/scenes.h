// SPDX-License-Identifier: Apache-2.0
// SceneStage: sets scenes up (Java threads of ours, parked in a native method at a known place)
// and lends their threads to the walk line. The Java side is wh.Scenes.
// Signal-safe: ParkedScene's fields may be read on its own thread; the rest no.
#ifndef WALKHAMMER_HARNESS_SCENES_SCENES_H_
#define WALKHAMMER_HARNESS_SCENES_SCENES_H_

#include <semaphore.h>

#include <memory>
#include <vector>

#include "harness/base/function_ref.h"
#include "harness/base/result.h"
#include "harness/base/trace.h"
#include "harness/guard/guard.h"
#include "harness/jvm/live/boot.h"

namespace walkhammer {

struct ParkedScene {
  int index = 0;  // into AllScenes()
  JNIEnv* env = nullptr;
  JavaThreadView thread;
  Registers pristine{};  // of the top Java frame: what a signal there would have shown
  uint64_t anchor_pc = 0, anchor_fp = 0;  // JavaThread::_anchor while parked; its sp is stack_low
  uint64_t stack_low = 0;                 // stack+0: last_Java_sp
  uint64_t stack_high = 0;                // the thread's stack base, exclusive
  uint64_t edit_high = 0;    // end of edits, exclusive: the thread's TLS and descriptor are above
  uint64_t stack_limit = 0;  // lowest address of the thread's stack
  std::vector<Frame> truth;  // from JVMTI at parking, newest first, bci as agct reports it
  // The same with the frames of a virtual thread that are in the heap, which walkers may return,
  // too; empty: there are none. Kinds are unknown.
  std::vector<Frame> truth_with_heap;
  // The words from stack_low to edit_high at the start of the last loan of the thread. What a
  // walker writes there is undone at the end of the loan, before the JVM reads the stack again.
  std::vector<uint64_t> snapshot;
  // Bit i: the walker at place i of the job walked truly at set-up. If such a walker later walks
  // the undisturbed scene wrongly, the child is retired.
  uint32_t walked_truly = 0;
  uint64_t signal_mask = 0;     // of the thread, as the kernel holds it
  uint64_t thread_pointer = 0;  // base of its thread-local storage
  GuardSlot guard;

  // Hand-over of the thread: the owner sets body, posts go, waits for done.
  sem_t go, done;
  const FunctionRef<void()>* body = nullptr;

  // To be called before the first walk of a loan, and after the last one.
  void TakeSnapshot();
  void RestoreStack() const;
};

// Binds the native methods of wh.Harness. Without a SceneStage that sets the scene up, its threads
// do not park: the scene plays through, and can be played again and again (wh.Rehearsal).
Status BindSceneNatives(Jvm& jvm, JNIEnv* env);

class SceneStage {
 public:
  // Loads wh.Harness and binds its natives. One per process; never destroyed.
  static Result<SceneStage*> Open(Jvm& jvm);

  // Starts `scene`, an index into AllScenes(), and waits at most 20 s until its thread has parked
  // and its expectations are verified. A failure says why the scene is not available in this JVM.
  Status SetUp(int scene);

  // Null if the scene was not set up.
  ParkedScene* Find(int scene) { return scenes_[scene].get(); }
  // The scenes that were set up, by index.
  std::vector<ParkedScene*> All() const;

  // Runs `body` on the scene's thread, in native, while all other Java threads stand at a
  // safepoint; returns when body has returned. False if the JVM refused the safepoint.
  bool Run(ParkedScene& scene, FunctionRef<void()> body);

 private:
  explicit SceneStage(Jvm& jvm) : jvm_(jvm) {}

  Jvm& jvm_;
  bool stuck_ = false;  // a scene's thread may still park late: no further scene can be set up
  std::unique_ptr<ParkedScene> scenes_[32];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_SCENES_H_
