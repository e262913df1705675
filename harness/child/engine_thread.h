// SPDX-License-Identifier: Apache-2.0
// EngineThread: walks scenes from a thread that a fuzz engine owns. Engines want to keep their
// thread and choose the scene of every input, and a hand-over to the scene's own thread costs more
// than a walk. So the engine's thread stands in for the scene's: for one walk it takes over that
// thread's thread pointer, and with it Thread::current(), errno and the guard's slot, while the
// scene's thread sleeps. All of it happens in a window: the JVM stands at a safepoint, several
// thousand walks long. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_
#define WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_

#include <semaphore.h>

#include <cstdint>

#include "harness/child/campaign.h"

namespace walkhammer {

class EngineThread {
 public:
  explicit EngineThread(ChildEnvironment& environment);

  // The JVM's main thread: opens windows as the engine asks for them, for ever.
  [[noreturn]] void Serve();

  // The engine's thread, once, before the first Run.
  void Enter();
  // The engine's thread: body(argument) as the scene's thread would run it. Opens a window if none
  // is open.
  void Run(ParkedScene& scene, void (*body)(void*), void* argument);
  // The engine's thread: puts stacks and code back and lets the JVM go on.
  void CloseWindow();

 private:
  void OpenWindow();
  static void OnVmThread(void* self);

  ChildEnvironment& environment_;
  sem_t wanted_, opened_, closed_;
  bool open_ = false;
  uint64_t walks_ = 0;    // in this window
  uint64_t windows_ = 0;  // so far
  uint32_t used_ = 0;     // bit i: scene i was walked in this window
  uint64_t own_pointer_ = 0, mask_ = 0;
  int tid_ = 0;
  GuardSlot slot_;  // for the alternate signal stack; the walks use the scenes' slots
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_
