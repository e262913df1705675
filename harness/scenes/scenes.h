// SPDX-License-Identifier: Apache-2.0
// SceneStage: sets scenes up (Java threads of ours, parked in a native method at a known place)
// and lends their threads to the walk line. The Java side is wh.Scenes.
// Signal-safe: ParkedScene's fields may be read on its own thread; the rest no.
#ifndef WALKHAMMER_HARNESS_SCENES_SCENES_H_
#define WALKHAMMER_HARNESS_SCENES_SCENES_H_

#include <semaphore.h>

#include <memory>
#include <vector>

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
  uint64_t edit_high = 0;    // edits stay below: above lie the thread's TLS and descriptor
  uint64_t stack_limit = 0;  // lowest address of the thread's stack
  std::vector<Frame> truth;  // from JVMTI at parking, newest first, bci as agct reports it
  // The words from stack_low to edit_high as they were when the thread was last lent out; what a
  // walker writes there is undone before the thread is given back and the JVM looks at it again.
  std::vector<uint64_t> snapshot;
  // Bit by place of a walker in the job: whether it walked truly at set-up. A later wrong pristine
  // walk of such a one retires the child.
  uint32_t walked_truly = 0;
  uint64_t signal_mask = 0;     // of the thread, as the kernel holds it
  uint64_t thread_pointer = 0;  // what its thread-local storage hangs on
  GuardSlot guard;

  // Hand-over of the thread: the owner sets body and argument, posts go, waits for done.
  sem_t go, done;
  void (*body)(void*) = nullptr;
  void* argument = nullptr;

  // Before the first walk and after the last one of a loan.
  void TakeSnapshot();
  void RestoreStack() const;
};

// Gives wh.Harness its native methods. Where no SceneStage sets a scene up, its threads are not
// parked: the scene plays through, and can be played again and again (wh.Rehearsal).
Status BindSceneNatives(Jvm& jvm, JNIEnv* env);

class SceneStage {
 public:
  // Loads wh.Scenes and binds its natives. One per process.
  static Result<SceneStage*> Open(Jvm& jvm);

  // Starts a scene and waits until its thread has parked and what the scene claims is verified.
  // A failure's message is the reason why the scene cannot be had in this JVM.
  Status SetUp(int scene);

  // Null if the scene was not set up.
  ParkedScene* Find(int scene) { return scenes_[scene].get(); }

  // Runs body(argument) on the scene's thread, in native, while all other Java threads stand at a
  // safepoint; returns when done. False if the JVM refused.
  bool Run(ParkedScene& scene, void (*body)(void*), void* argument);

 private:
  explicit SceneStage(Jvm& jvm) : jvm_(jvm) {}

  Jvm& jvm_;
  bool stuck_ = false;  // a scene's thread may still turn up: no further scene can be set up
  std::unique_ptr<ParkedScene> scenes_[32];
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_SCENES_H_
