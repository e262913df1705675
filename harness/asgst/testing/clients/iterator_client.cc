// SPDX-License-Identifier: Apache-2.0
// A profiler that walks with the iterator in the signal handler, as the post on the iterator
// describes one: it keeps frames there, and asks for their names later, which must be those from
// the handler, or empty, or of another class, which has come to the place of an unloaded one. An
// agent; its option is the time between samples in microseconds. It prints what it counted when the
// program ends.
#include <profile2.h>
#include <sys/mman.h>

#include <array>

#include "sampling.h"

namespace {

constexpr int kMostFrames = 512;
constexpr int kTraces = 256;

struct Trace {
  std::atomic<bool> is_free{true}, is_done{false};
  std::array<ASGST_Frame, kMostFrames> frames;
  int count = 0;
  Leaf leaf;  // as the signal handler found it
};

std::array<Trace, kTraces> traces;
SampledThreads threads;
Sampler sampler;
Counts counts;
std::atomic<bool> stop_naming{false};
std::thread naming;

void Keep(ASGST_Iterator* iterator, void* argument) {
  auto* trace = static_cast<Trace*>(argument);
  ASGST_Frame frame;
  for (trace->count = 0; trace->count < kMostFrames && ASGST_NextFrame(iterator, &frame) == 1;)
    trace->frames[static_cast<size_t>(trace->count++)] = frame;
  ASGST_RewindIterator(iterator);
  if (trace->leaf.Take(iterator) && trace->leaf.name == 0) counts.wrong_names++;
}

void OnSignal(int, siginfo_t*, void* ucontext) {
  for (Trace& trace : traces) {
    if (!trace.is_free.exchange(false)) continue;
    trace.count = 0;
    trace.leaf = {};
    counts.Add(ASGST_RunWithIterator(ucontext, 0, Keep, &trace), ucontext);
    trace.is_done = true;
    return;
  }
}

// Handles may be any word: asks for the names of words where no memory is. A JVM whose SafeFetch
// does not work on the calling thread would die here.
void NameNothing() {
  constexpr size_t kPage = 4096;
  void* const gone = mmap(nullptr, kPage, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(gone, kPage);
  char name[100] = "?";
  ASGST_MethodInfo method = {};
  method.method_name = name;
  method.method_name_length = sizeof name;
  ASGST_GetMethodInfo(static_cast<ASGST_Method>(gone), &method);
  if (name[0] != 0) counts.wrong_names++;
}

// The class may be gone by now: then its names are not known, or a later class has its place.
void CheckName(const Leaf& leaf) {
  if (leaf.name == 0) return;
  const Names now(leaf.method);
  if (now.Hash() != 0 && now.Hash() != leaf.name && now.of_method.class_idnum == leaf.class_idnum)
    counts.wrong_names++;
}

void NameTraces() {
  for (Trace& trace : traces) {
    if (!trace.is_done.exchange(false)) continue;
    CheckName(trace.leaf);
    for (int i = 0; i < trace.count; i++)
      NameOf(trace.frames[static_cast<size_t>(i)].method, counts);
    trace.is_free = true;
  }
}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv*, jthread) { threads.Add(); }

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv*, jthread) { threads.Remove(); }

void JNICALL OnVmInit(jvmtiEnv*, JNIEnv*, jthread) {
  threads.Add();
  sampler.Start(threads, OnSignal);
  NameNothing();
  naming = std::thread([] {
    NameNothing();
    while (!stop_naming) {
      NameTraces();
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
}

void JNICALL OnVmDeath(jvmtiEnv*, JNIEnv*) {
  sampler.Stop();
  stop_naming = true;
  naming.join();
  counts.Print("iterator");
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* vm, char* options, void*) {
  sampler.SetOptions(options);
  return Listen(vm, OnVmInit, OnVmDeath, OnThreadStart, OnThreadEnd);
}
