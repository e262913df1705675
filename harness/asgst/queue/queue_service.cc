// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/queue/queue_service.h"

#include <jvmti.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/classes.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/queue/frame_marks.h"
#include "harness/asgst/queue/own_polls.h"
#include "harness/asgst/queue/queue.h"
#include "harness/jvm/live/jvmti_env.h"
#include "harness/process/service_thread.h"

namespace walkhammer::asgst {
namespace {

JavaVM* queue_vm = nullptr;
// The environment that walks the heap: the one that tags the classes, if there is one. In JDK 25,
// but not in 17, a walk also clears the tags that other environments gave to freed objects, and
// reports them to the ObjectFree of the walking environment alone. If another environment walked,
// nothing would report unloaded classes.
jvmtiEnv* heap_env = nullptr;

AutoResetEvent work;
std::atomic<bool> held{false};

// Numbers of the newest round that was asked for, and of the newest that is over.
struct Rounds {
  std::mutex mutex;
  std::condition_variable over;
  uint64_t asked = 0, done = 0;
};
Rounds& TheRounds() {
  static auto* rounds = new Rounds;  // never destroyed, like all that the service thread uses
  return *rounds;
}

jint JNICALL OnRoot(jvmtiHeapReferenceKind, const jvmtiHeapReferenceInfo*, jlong, jlong, jlong,
                    jlong*, jlong*, jint, void* done) {
  if (!*static_cast<bool*>(done)) {
    // The mutex is not held around the whole walk: unload handlers may run in a walk, and a walk
    // does not return once the JVM has ended. A thread that holds the mutex needs no safepoint to
    // go on.
    const std::lock_guard lock(ProcessingMutex());
    ProcessQueues();
  }
  *static_cast<bool*>(done) = true;
  return JVMTI_VISIT_ABORT;
}

void ProcessAtSafepoint() {
  jvmtiHeapCallbacks callbacks{};
  callbacks.heap_reference_callback = OnRoot;
  bool done = false;
  // Without a first object, the walk begins with the roots on stacks, and an abort there costs no
  // sweep of the heap in JDK 17 (VM_HeapWalkOperation::doit). At least the service's own local
  // reference is such a root.
  heap_env->FollowReferences(0, nullptr, nullptr, &callbacks, &done);
}

void JNICALL OnDeath(jvmtiEnv*, JNIEnv*) { EndOwnPolls(); }

// Called at a safepoint, before each pause of a collection unloads anything. So each element is
// handled while the methods of its frames exist. A class is unloaded only if no thread was in its
// methods at some pause, and the begin of that pause has handled all older elements.
void JNICALL OnCollectionStart(jvmtiEnv*) {
  const std::lock_guard lock(ProcessingMutex());
  ProcessQueues();
}

// Pauses before another look at elements whose handlers have not returned, in us: each is twice as
// long.
constexpr int kFirstPause = 30, kMostPause = 10'000;
// Elements do not wake the service, as it would take processor time from the signal handler's
// thread.
constexpr std::chrono::milliseconds kPauseForOwnPolls{10};

// Processes the queues at a safepoint. Returns how long the service then rests. Before JDK 13
// (JDK-8214271), threads that have waited for a safepoint's end go on one after the other, and
// mostly meet the next safepoint if that comes at once: a program whose threads are all sampled
// would hardly go on. There the service rests as long as the stop took, 1 to 500 ms. On a busy
// machine that is longer than a time slice; after a shorter rest, no thread would have run.
std::chrono::nanoseconds Stop() {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::nanoseconds kLeast = std::chrono::milliseconds(1), kMost = 500 * kLeast;
  const auto begin = Clock::now();
  ProcessAtSafepoint();
  const std::chrono::nanoseconds took = Clock::now() - begin;
  return Live()->feature < 13 ? std::clamp(took, kLeast, kMost) : std::chrono::nanoseconds(0);
}

void* Serve(void*) {
  JavaVMAttachArgs arguments = {JNI_VERSION_1_6, const_cast<char*>("asgst queues"), nullptr};
  void* env = nullptr;
  if (queue_vm->AttachCurrentThreadAsDaemon(&env, &arguments) != JNI_OK) return nullptr;
  static_cast<JNIEnv*>(env)->NewStringUTF("asgst");
  Rounds& rounds = TheRounds();
  Work last = Work::kNone;
  for (int pause = 0;;) {
    pause = last == Work::kLater ? std::min(2 * pause, kMostPause) : kFirstPause;
    if (last == Work::kNone)
      work.Wait();
    else if (HasOwnPolls())
      std::this_thread::sleep_for(kPauseForOwnPolls);
    else
      work.WaitFor(pause);
    rounds.mutex.lock();
    const uint64_t round = rounds.asked;
    const bool asked = round != rounds.done;
    rounds.mutex.unlock();
    last = asked || !held.load() ? WorkForQueues() : Work::kNone;
    const auto rest = last == Work::kNow ? Stop() : std::chrono::nanoseconds(0);
    rounds.mutex.lock();
    rounds.done = round;
    rounds.over.notify_all();
    rounds.mutex.unlock();
    if (rest.count() > 0) std::this_thread::sleep_for(rest);
  }
}

// Waits until all elements that are in the queues now are handled, for at most kMost: a JVM that
// ends runs no more operations.
void ProcessNow() {
  constexpr std::chrono::seconds kMost{2};
  Rounds& rounds = TheRounds();
  std::unique_lock lock(rounds.mutex);
  const uint64_t round = ++rounds.asked;
  WakeQueueService();
  rounds.over.wait_for(lock, kMost, [&] { return rounds.done >= round; });
}

// The list of threads may change too often for ThreadOfEnv to find this one, whose memory is freed.
void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread) {
  const uint64_t thread = CurrentJavaThread();
  if (HasLiveMarks(thread)) OutsideOfProcessing([&] { RetireMarksOf(thread); });
  bool own = false, waiting = false;
  for (ASGST_Queue* queue : LiveQueues()) {
    if (queue->thread != thread) continue;
    own = queue->ending = true;
    waiting |= ASGST_GetQueueSizeInfo(queue).size > 0;
  }
  if (!own) return;
  if (waiting && HasOwnPolls())
    ProcessOwnQueues(thread);
  else if (waiting)
    ProcessNow();
  const std::lock_guard lock(ProcessingMutex());
  for (ASGST_Queue* queue : LiveQueues()) {
    if (queue->thread != thread) continue;
    queue->state = ASGST_Queue::kEnded;
    RetireQueue(queue);
  }
}

// Also for collections, as far as this JVM reports them, and for its own end.
Status ListenForEnds() {
  jvmtiEnv* jvmti = NewJvmti(queue_vm);
  if (jvmti == nullptr) return Unable("this JVM has no JVMTI");
  jvmtiCapabilities wanted{};
  wanted.can_tag_objects = 1;  // walking the heap requires it
  wanted.can_generate_garbage_collection_events = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.ThreadEnd = OnThreadEnd;
  callbacks.GarbageCollectionStart = OnCollectionStart;
  callbacks.VMDeath = OnDeath;
  if (jvmti->AddCapabilities(&wanted) != JVMTI_ERROR_NONE ||
      jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) != JVMTI_ERROR_NONE ||
      jvmti->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_END, nullptr) !=
          JVMTI_ERROR_NONE) {
    jvmti->DisposeEnvironment();
    return Unable("this JVM refuses walks of the heap, or events of threads that end");
  }
  for (const jvmtiEvent event : {JVMTI_EVENT_GARBAGE_COLLECTION_START, JVMTI_EVENT_VM_DEATH})
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  heap_env = ClassEnvironment() == nullptr ? jvmti : ClassEnvironment();
  return Ok();
}

}  // namespace

std::shared_mutex& ProcessingMutex() {
  static auto* mutex = new std::shared_mutex;
  return *mutex;
}

Status StartQueueService(JavaVM* vm) {
  static auto* mutex = new std::mutex;
  static bool started = false;
  const std::lock_guard lock(*mutex);
  if (started) return Ok();
  queue_vm = vm;
  Status status = heap_env == nullptr ? ListenForEnds() : Ok();
  if (status.ok()) status = StartServiceThread("asgst-queues", Serve);
  if (status.ok()) static_cast<void>(StartOwnPolls());
  started = status.ok();
  return status;
}

bool AreQueuesHeld() { return held.load(); }

void HoldQueueService(bool hold) {
  held = hold;
  if (!hold) WakeQueueService();
}

void WakeQueueService() { work.Set(); }

}  // namespace walkhammer::asgst
