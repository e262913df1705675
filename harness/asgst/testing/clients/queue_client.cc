// SPDX-License-Identifier: Apache-2.0
// A profiler that only enqueues in the signal handler, as the post on safepoint queues describes
// one: the queue's handler asks for the names at once, and keeps stacks in a map behind a lock.
// Class unload handlers count what the post on method ids promises. An agent; it prints what it
// counted when the program ends.
#include <profile2.h>

#include <map>

#include "sampling.h"

namespace {

constexpr int kMostFrames = 512;

thread_local ASGST_Queue* queue = nullptr;
SampledThreads threads;
Sampler sampler;
Counts counts;
std::mutex stacks_mutex;
std::map<std::string, long> stacks;
std::atomic<long> handled{0}, unloaded{0}, unloaded_early{0};

void OnElement(ASGST_Iterator* iterator, void*, void*) {
  std::string stack;
  ASGST_Frame frame;
  for (int i = 0; i < kMostFrames && ASGST_NextFrame(iterator, &frame) == 1; i++)
    stack += NameOf(frame.method, counts) + "\n";
  handled++;
  const std::lock_guard<std::mutex> lock(stacks_mutex);
  stacks[stack]++;
}

void OnUnload(ASGST_Class, ASGST_Method*, int, bool redefined, void* count) {
  if (!redefined) (*static_cast<std::atomic<long>*>(count))++;
}

void OnSignal(int, siginfo_t*, void* ucontext) {
  if (queue != nullptr) counts.Add(ASGST_Enqueue(queue, ucontext, nullptr), ucontext);
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  queue = ASGST_RegisterQueue(env, 10'000, 0, OnElement, nullptr);
  threads.Add();
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* env, jthread) {
  threads.Remove();
  ASGST_DeregisterQueue(env, queue);
  queue = nullptr;
}

void JNICALL OnVmInit(jvmtiEnv* jvmti, JNIEnv* env, jthread thread) {
  if ((ASGST_Capabilities() & ASGST_REGISTER_QUEUE) == 0) return;
  ASGST_RegisterClassUnloadHandler(OnUnload, &unloaded);
  OnThreadStart(jvmti, env, thread);
  sampler.Start(threads, OnSignal);
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  sampler.Stop();
  const bool found = ASGST_DeregisterClassUnloadHandler(OnUnload, &unloaded) &&
                     ASGST_DeregisterClassUnloadHandler(OnUnload, &unloaded_early);
  counts.Print("queue");
  std::fprintf(stderr, "queue: handled %ld unloaded %ld unloaded-early %ld deregistered %d\n",
               handled.load(), unloaded.load(), unloaded_early.load(), found ? 1 : 0);
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char*, void*) {
  ASGST_RegisterClassUnloadHandler(OnUnload, &unloaded_early);
  return Listen(vm, OnVmInit, OnVmDeath, OnThreadStart, OnThreadEnd);
}
