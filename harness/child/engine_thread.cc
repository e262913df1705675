// SPDX-License-Identifier: Apache-2.0
#include "harness/child/engine_thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>

#include "harness/guard/arch.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

void Wait(sem_t& semaphore) {
  while (sem_wait(&semaphore) != 0) {
  }
}

}  // namespace

EngineThread::EngineThread(ChildEnvironment& environment) : environment_(environment) {
  for (sem_t* semaphore : {&wanted_, &opened_, &closed_}) sem_init(semaphore, 0, 0);
}

void EngineThread::OnVmThread(void* self) {
  auto& engine = *static_cast<EngineThread*>(self);
  sem_post(&engine.opened_);
  Wait(engine.closed_);
}

void EngineThread::Serve() {
  for (;;) {
    Wait(wanted_);
    environment_.LetJvmRun();
    // Damage done by walks must show here, not in a user's JVM.
    if (windows_ % kWindowsPerCollection == kWindowsPerCollection - 1)
      environment_.jvm->jvmti()->ForceGarbageCollection();
    if (!environment_.jvm->RunAtSafepoint(OnVmThread, this)) {
      std::fprintf(stderr, "walkhammer: the JVM refused to stop at a safepoint\n");
      _exit(4);
    }
  }
}

void EngineThread::Enter() {
  EnterGuardedThread(slot_);
  tid_ = slot_.tid.load();
  own_pointer_ = ThreadPointer();
  mask_ = ThreadSignalMask();
}

void EngineThread::OpenWindow() {
  sem_post(&wanted_);
  Wait(opened_);
  open_ = true;
  walks_ = 0;
  used_ = 0;
  windows_++;
  if (environment_.coverage != nullptr) environment_.coverage->Arm();
}

void EngineThread::CloseWindow() {
  if (!open_) return;
  if (environment_.coverage != nullptr) environment_.coverage->Disarm();
  for (size_t i = 0; i < AllScenes().size(); i++)
    if ((used_ >> i & 1) != 0) environment_.stage->Find(static_cast<int>(i))->RestoreStack();
  open_ = false;
  sem_post(&closed_);
}

void EngineThread::Run(ParkedScene& scene, FunctionRef<void()> body) {
  if (!open_) OpenWindow();
  if ((used_ >> scene.index & 1) == 0) {
    scene.TakeSnapshot();
    used_ |= 1U << scene.index;
  }
  scene.guard.tid.store(tid_, std::memory_order_relaxed);
  if (mask_ != scene.signal_mask) {
    mask_ = scene.signal_mask;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask_, nullptr, sizeof mask_);
  }
  SetThreadPointer(scene.thread_pointer);
  body();
  SetThreadPointer(own_pointer_);
  if (++walks_ >= kWalksPerWindow) CloseWindow();
}

}  // namespace walkhammer
