// SPDX-License-Identifier: Apache-2.0
// A profiler that only enqueues in the signal handler, as the post on safepoint queues describes
// one: the queue's handler asks for the names at once, and keeps stacks in a map behind a lock. It
// checks what the post promises of each element: the thread, and the sampled frame, which the
// signal handler walks to, too. Class unload handlers count what the post on method ids promises.
// An agent; its option is the time between samples in microseconds, and ",leaves" if handlers are
// to ask for the sampled frame's names alone. It prints what it counted when the program ends.
#include <profile2.h>

#include <cstring>
#include <map>
#include <memory>

#include "cpu_clock.h"
#include "libraries.h"
#include "sampling.h"

namespace {

constexpr int kMostFrames = 512, kMostOfLeaves = 32, kCapacity = 1000;

// What the signal handler's own walk has found.
struct Walked {
  static void Take(ASGST_Iterator* iterator, void* self) {
    auto* walked = static_cast<Walked*>(self);
    walked->leaf.Take(iterator);
    ASGST_Frame frame;
    for (int n = 0; n < kMostOfLeaves && ASGST_NextFrame(iterator, &frame) == 1;) n++;
    walked->is_broken = ASGST_State(iterator) < 0;
  }
  Leaf leaf;
  bool is_broken = false;
};

// A Java thread's queue, and the walks of its signal handlers: an element's argument is one. There
// is one more than elements in the queue.
struct Sampled {
  ASGST_Queue* queue = nullptr;
  JNIEnv* env = nullptr;
  const pthread_t thread = pthread_self();
  std::atomic<bool> is_processed{false};  // its elements are being handled
  CpuClock clock;
  long accepted = 0;
  std::unique_ptr<Walked[]> walks{new Walked[kCapacity + 1]};
};

thread_local Sampled* sampled = nullptr;
JavaVM* vm = nullptr;
bool leaves_only = false;
std::atomic<bool> stopped{false};
SampledThreads threads;
Sampler sampler;
Counts counts;
Libraries libraries;
std::mutex stacks_mutex;
std::map<std::string, long> stacks;
std::atomic<long> accepted{0}, handled{0}, unloaded{0}, unloaded_early{0};
// Elements that were handled by their own thread; by a Java thread that is not theirs, or without
// their thread's variables; with another frame than the signal handler's; without the callers that
// the signal handler has found. Elements that were dropped with their queues.
std::atomic<long> by_own_thread{0}, wrong_thread{0}, wrong_leaf{0}, without_callers{0}, dropped{0};
// Signals that found their thread in the processing of its queue; blocked at its poll.
std::atomic<long> signals{0}, in_processing{0}, blocked{0};

// A stop's handlers run on a thread that is not Java's.
void CheckThread(const Sampled& own) {
  void* env = nullptr;
  const bool is_java = vm->GetEnv(&env, JNI_VERSION_1_6) == JNI_OK;
  if (pthread_equal(pthread_self(), own.thread) != 0) {
    by_own_thread++;
    if (sampled != &own || env != own.env) wrong_thread++;
  } else if (is_java) {
    wrong_thread++;
  }
}

// `frame`: null if the element has no frame.
void CountWrongLeaf(const Leaf& leaf, const ASGST_Frame* frame) {
  constexpr long kMostTold = 3;
  if (++wrong_leaf > kMostTold) return;
  std::fprintf(stderr, "wrong leaf: type %d method %p %d pc %p in the signal handler; ", leaf.type,
               static_cast<void*>(leaf.method), leaf.bci, leaf.pc);
  if (frame == nullptr) return void(std::fprintf(stderr, "no frame later\n"));
  std::fprintf(stderr, "type %d method %p (%s) %d pc %p later\n", frame->type,
               static_cast<void*>(frame->method), NameOf(frame->method, counts).c_str(), frame->bci,
               frame->pc);
}

void CheckLeaf(const Leaf& leaf, const ASGST_Frame& frame) {
  if (!leaf.IsFrame(frame)) return CountWrongLeaf(leaf, &frame);
  if (leaf.name == 0 || Names(frame.method).Hash() != leaf.name) counts.wrong_names++;
}

void OnElement(ASGST_Iterator* iterator, void* queue_argument, void* argument) {
  CheckThread(*static_cast<Sampled*>(queue_argument));
  std::string stack;
  ASGST_Frame frame;
  const Walked& walked = *static_cast<Walked*>(argument);
  const int most = leaves_only ? kMostOfLeaves : kMostFrames;
  int count = 0;
  while (count < most && ASGST_NextFrame(iterator, &frame) == 1) {
    if (count++ == 0) CheckLeaf(walked.leaf, frame);
    if (!leaves_only) stack += NameOf(frame.method, counts) + "\n";
  }
  if (count == 0) CountWrongLeaf(walked.leaf, nullptr);
  if (ASGST_State(iterator) < 0 && !walked.is_broken) without_callers++;
  handled++;
  if (leaves_only) return;
  const std::lock_guard<std::mutex> lock(stacks_mutex);
  stacks[stack]++;
}

void OnStart(ASGST_Queue*, ASGST_Iterator*, void* own) {
  static_cast<Sampled*>(own)->is_processed = true;
}

void OnEnd(ASGST_Queue*, ASGST_Iterator*, void* own) {
  static_cast<Sampled*>(own)->is_processed = false;
}

void OnUnload(ASGST_Class, ASGST_Method*, int, bool redefined, void* count) {
  if (!redefined) (*static_cast<std::atomic<long>*>(count))++;
}

void CountWhereItIs(const Sampled& own, const Leaf& leaf, void* ucontext) {
  signals++;
  const Libraries::Place place =
      leaf.pc == PcOf(ucontext) ? Libraries::kElsewhere : libraries.PlaceOf(ucontext);
  if (own.is_processed || place == Libraries::kInAsgst)
    in_processing++;
  else if (place == Libraries::kCalledByAsgst)
    blocked++;
}

void OnSignal(int, siginfo_t*, void* ucontext) {
  Sampled* const own = sampled;
  if (own == nullptr || stopped) return;
  Walked& walked = own->walks[static_cast<size_t>(own->accepted % (kCapacity + 1))];
  walked = {};
  ASGST_RunWithIterator(ucontext, 0, Walked::Take, &walked);
  CountWhereItIs(*own, walked.leaf, ucontext);
  const int result = ASGST_Enqueue(own->queue, ucontext, &walked);
  counts.Add(result, ucontext);
  if (result == ASGST_JAVA_TRACE) {
    own->accepted++;
    accepted++;
  }
  own->clock.GoOn();
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  auto* own = new Sampled;
  own->env = env;
  own->queue = ASGST_RegisterQueue(env, kCapacity, 0, OnElement, own);
  if (own->queue == nullptr) return void(delete own);  // JDK 8 tells of threads before VMInit
  ASGST_SetOnQueueProcessingStart(own->queue, 0, false, OnStart, own);
  ASGST_SetOnQueueProcessingEnd(own->queue, 0, false, OnEnd, own);
  sampled = own;
  if (sampler.cpu_time().count() == 0 || !own->clock.Start(sampler.cpu_time())) threads.Add();
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* env, jthread) {
  threads.Remove();  // no signal is sent any more, except by the thread's own clock
  Sampled* const own = sampled;
  if (own == nullptr) return;
  sampled = nullptr;
  own->clock.Stop();
  dropped += ASGST_GetQueueSizeInfo(own->queue).size;
  ASGST_DeregisterQueue(env, own->queue);
  delete own;
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* env, jthread thread) {
  if ((ASGST_Capabilities() & ASGST_REGISTER_QUEUE) == 0) return;
  libraries.Find();
  ASGST_RegisterClassUnloadHandler(OnUnload, &unloaded);
  sampler.Start(threads, OnSignal);
  OnThreadStart(jvmti, env, thread);
}

// What waits in queues is handled soon, if at all.
void WaitForHandlers() {
  for (int i = 0; i < 2000 && handled + dropped < accepted; i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  sampler.Stop();
  stopped = true;
  WaitForHandlers();
  const bool found = ASGST_DeregisterClassUnloadHandler(OnUnload, &unloaded) &&
                     ASGST_DeregisterClassUnloadHandler(OnUnload, &unloaded_early);
  counts.Print("queue");
  std::fprintf(stderr, "queue: handled %ld unloaded %ld unloaded-early %ld deregistered %d\n",
               handled.load(), unloaded.load(), unloaded_early.load(), found ? 1 : 0);
  std::fprintf(stderr,
               "queue: accepted %ld own-thread %ld wrong-thread %ld wrong-leaf %ld "
               "without-callers %ld dropped %ld signals %ld in-processing %ld blocked %ld\n",
               accepted.load(), by_own_thread.load(), wrong_thread.load(), wrong_leaf.load(),
               without_callers.load(), dropped.load(), signals.load(), in_processing.load(),
               blocked.load());
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* java_vm, char* options, void*) {
  vm = java_vm;
  sampler.SetOptions(options);
  leaves_only = options != nullptr && std::strstr(options, ",leaves") != nullptr;
  ASGST_RegisterClassUnloadHandler(OnUnload, &unloaded_early);
  return Listen(vm, OnVmInit, OnVmDeath, OnThreadStart, OnThreadEnd);
}
