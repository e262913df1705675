// SPDX-License-Identifier: Apache-2.0
// EngineThread: walks scenes from a thread that a fuzz engine owns. Engines keep their own thread
// and choose the scene of every input, and a hand-over to the scene's own thread costs more than a
// walk. So the engine's thread stands in for the scene's thread: for one walk, the engine's thread
// takes over the thread pointer of the scene's thread, and with it Thread::current(), errno and the
// guard's slot, while the scene's thread sleeps. Walks happen in windows of kWalksPerWindow walks;
// during a window the JVM stands at a safepoint. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_
#define WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_

#include <semaphore.h>

#include <cstdint>

#include "harness/child/campaign.h"

namespace walkhammer {

class EngineThread {
 public:
  explicit EngineThread(ChildEnvironment& environment);

  // Opens windows as the engine asks for them, endlessly. To be called on the JVM's main thread.
  [[noreturn]] void Serve();

  // Makes the engine's thread able to walk. To be called once on that thread, ahead of any Run.
  void Enter();
  // Runs `body` on the engine's thread as the scene's thread would run it. Opens a window if none
  // is open, and closes the window after kWalksPerWindow walks.
  void Run(ParkedScene& scene, FunctionRef<void()> body);
  // Restores stacks and code and lets the JVM go on. To be called on the engine's thread.
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
  GuardSlot slot_;  // for the alternate signal stack; walks use the scenes' slots
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CHILD_ENGINE_THREAD_H_
