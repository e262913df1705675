// SPDX-License-Identifier: Apache-2.0
// A small sampling profiler that shows how to use walkhammer's asgst.h and asgst_iterator.h on a
// stock JDK. It is a JVMTI agent and walks in one of three ways:
//
//   agct      AsyncGetCallTrace in the signal handler, which every JDK has: for comparison
//   iterator  the ASGST iterator in the signal handler
//   queue     the handler only queues where the thread stands; the stack is walked at a safepoint
//
//   java -agentpath:build/release/libexample_profiler.so=queue,1000,flames.svg ...
//
// 1000: microseconds of the process's CPU time from one sample to the next. flames.svg: a flame
// graph, for any browser; written when the program ends. Methods of classes that were unloaded by
// then are "(unknown)": a profiler that needs these, too, asks for names as it meets methods.
#include <asgst.h>
#include <asgst_iterator.h>
#include <jvmti.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
// Exported by libjvm; in no header.
typedef struct {
  jint lineno;
  jmethodID method_id;
} ASGCT_CallFrame;
typedef struct {
  JNIEnv* env_id;
  jint num_frames;
  ASGCT_CallFrame* frames;
} ASGCT_CallTrace;
void AsyncGetCallTrace(ASGCT_CallTrace* trace, jint depth, void* ucontext);
}

namespace {

enum class Mode { kAgct, kIterator, kQueue };

Mode mode = Mode::kIterator;
long interval_us = 1000;
std::string file = "flames.svg";
JavaVM* vm = nullptr;
jvmtiEnv* jvmti = nullptr;
// The current thread's queue, readable in a signal handler, which thread_local is not always.
pthread_key_t queue_key;

// --- Stacks. Filled in signal handlers: no locks, no allocation.
// ----------------------------------

constexpr int kDepth = 128;
constexpr size_t kStacks = 8192;
constexpr int kQueueSize = 128;

struct Stack {
  std::atomic<uint64_t> hash{0};  // 0: free
  std::atomic<uint64_t> count{0};
  std::atomic<int> depth{0};
  jmethodID methods[kDepth];  // newest first; null: a method without an id
};
Stack stacks[kStacks];
// `idle`: threads without Java frames, as those of the compilers.
std::atomic<uint64_t> failed{0}, idle{0}, dropped{0}, returned{0};

void Count(const jmethodID* methods, int depth) {
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < depth; i++)
    hash = (hash ^ reinterpret_cast<uint64_t>(methods[i])) * 0x9e3779b97f4a7c15;
  hash |= 1;
  for (size_t probe = 0; probe < kStacks; probe++) {
    Stack& stack = stacks[(hash + probe) % kStacks];
    uint64_t there = 0;
    if (stack.hash.compare_exchange_strong(there, hash)) {
      std::memcpy(stack.methods, methods, static_cast<size_t>(depth) * sizeof methods[0]);
      stack.depth.store(depth);
    } else if (there != hash) {
      continue;
    }
    stack.count.fetch_add(1);
    return;
  }
  dropped.fetch_add(1);
}

// --- Three ways to walk
// ---------------------------------------------------------------------------

void WalkByAgct(void* ucontext) {
  void* env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK) return;  // none of the JVM's threads
  ASGCT_CallFrame frames[kDepth];
  ASGCT_CallTrace trace = {static_cast<JNIEnv*>(env), 0, frames};
  AsyncGetCallTrace(&trace, kDepth, ucontext);
  constexpr jint kUnknownNotJava = -3;  // also what threads of the JVM's own get
  if (trace.num_frames <= 0) {
    const bool none = trace.num_frames == 0 || trace.num_frames == kUnknownNotJava;
    (none ? idle : failed).fetch_add(1);
    return;
  }
  jmethodID methods[kDepth];
  for (int i = 0; i < trace.num_frames; i++) methods[i] = frames[i].method_id;
  Count(methods, trace.num_frames);
}

void CountIterated(ASGST_Iterator* iterator, void*) {
  jmethodID methods[kDepth];
  int depth = 0;
  ASGST_Frame frame;
  while (depth < kDepth && ASGST_NextFrame(iterator, &frame) == 1)
    methods[depth++] = ASGST_MethodToJMethodID(frame.method);
  Count(methods, depth);
}

void WalkByIterator(void* ucontext) {
  const int kind = ASGST_RunWithIterator(ucontext, 0, CountIterated, nullptr);
  if (kind == ASGST_NO_TOP_JAVA_FRAME)
    idle.fetch_add(1);
  else if (kind != ASGST_JAVA_TRACE && kind != ASGST_NO_THREAD)
    failed.fetch_add(1);
}

// At a safepoint, for each element of a queue.
void CountQueued(ASGST_Iterator* iterator, void*, void* samples) {
  // How often the handler met the same frame in a row: see Enqueue.
  const auto times = reinterpret_cast<uintptr_t>(samples);
  if (asgst_element_state(iterator) >= ASGST_ELEMENT_RETURNED) returned.fetch_add(times);
  for (uintptr_t i = 0; i < times; i++) {
    CountIterated(iterator, nullptr);
    ASGST_RewindIterator(iterator);
  }
}

void Enqueue(void* ucontext) {
  auto* queue = static_cast<ASGST_Queue*>(pthread_getspecific(queue_key));
  if (queue == nullptr) return;
  // A thread that stands where it stood at the last sample needs no element of its own.
  ASGST_QueueElement now;
  ASGST_QueueElement* youngest = ASGST_GetQueueElement(queue, -1);
  if (youngest != nullptr && ASGST_GetEnqueuableElement(ucontext, &now) > 0 &&
      now.pc == youngest->pc && now.sp == youngest->sp && now.fp == youngest->fp) {
    youngest->arg = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(youngest->arg) + 1);
    return;
  }
  const int kind = ASGST_Enqueue(queue, ucontext, reinterpret_cast<void*>(uintptr_t{1}));
  if (kind <= 0) (kind == ASGST_NO_TOP_JAVA_FRAME ? idle : failed).fetch_add(1);
}

void OnSignal(int, siginfo_t*, void* ucontext) {
  const int error_number = errno;
  switch (mode) {
    case Mode::kAgct:
      WalkByAgct(ucontext);
      break;
    case Mode::kIterator:
      WalkByIterator(ucontext);
      break;
    case Mode::kQueue:
      Enqueue(ucontext);
      break;
  }
  errno = error_number;
}

// --- The flame graph
// ------------------------------------------------------------------------------

std::string NameOf(jmethodID id) {
  const ASGST_Method method = id == nullptr ? nullptr : ASGST_JMethodIDToMethod(id);
  if (method == nullptr) return "(unknown)";
  char name[256] = "", klass[256] = "";
  ASGST_MethodInfo info = {};
  info.method_name = name;
  info.method_name_length = sizeof name;
  ASGST_GetMethodInfo(method, &info);
  ASGST_ClassInfo of = {};
  of.class_name = klass;
  of.class_name_length = sizeof klass;
  ASGST_GetClassInfo(info.klass, &of);
  return std::string(klass) + "." + name;
}

struct Node {
  uint64_t count = 0;
  std::map<std::string, Node> callees;
};

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

constexpr double kWidth = 1200, kRow = 17;

void Draw(FILE* out, const std::string& name, const Node& node, double x, double scale, int row,
          uint64_t all) {
  const double width = static_cast<double>(node.count) * scale;
  if (width < 0.3) return;
  const std::string text = Escaped(name);
  const size_t fits = static_cast<size_t>(width / 7);
  std::fprintf(
      out,
      "<g><title>%s: %lu samples, %.2f %%</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" "
      "height=\"%.0f\" rx=\"2\" fill=\"hsl(%zu,70%%,70%%)\"/><text x=\"%.1f\" y=\"%.0f\">%s"
      "</text></g>\n",
      text.c_str(), node.count, 100 * static_cast<double>(node.count) / static_cast<double>(all), x,
      row * kRow, width, kRow - 1, std::hash<std::string>()(name) % 60, x + 3, row * kRow + 12,
      fits < 3 ? "" : Escaped(name.substr(0, fits)).c_str());
  for (const auto& [callee, below] : node.callees) {
    Draw(out, callee, below, x, scale, row + 1, all);
    x += static_cast<double>(below.count) * scale;
  }
}

int Rows(const Node& node) {
  int most = 0;
  for (const auto& [name, callee] : node.callees) most = std::max(most, Rows(callee));
  return most + 1;
}

void WriteFlames() {
  Node root;
  std::map<jmethodID, std::string> names;
  for (const Stack& stack : stacks) {
    const uint64_t count = stack.count.load();
    if (count == 0) continue;
    Node* node = &root;
    node->count += count;
    for (int i = stack.depth.load(); i-- > 0;) {
      std::string& name = names[stack.methods[i]];
      if (name.empty()) name = NameOf(stack.methods[i]);
      node = &node->callees[name];
      node->count += count;
    }
  }
  FILE* out = std::fopen(file.c_str(), "w");
  if (out == nullptr) {
    std::perror(file.c_str());
    return;
  }
  std::fprintf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "font-family=\"sans-serif\" font-size=\"12\">\n",
               kWidth, (Rows(root) + 1) * kRow);
  const uint64_t all = std::max<uint64_t>(root.count, 1);
  Draw(out, "all", root, 0, kWidth / static_cast<double>(all), 0, all);
  std::fprintf(out, "</svg>\n");
  std::fclose(out);
  std::fprintf(stderr,
               "profiler: %lu stacks, %lu failed, %lu of threads without Java frames, %lu dropped, "
               "%lu of frames that had returned\n",
               root.count, failed.load(), idle.load(), dropped.load(), returned.load());
}

// --- The agent
// ------------------------------------------------------------------------------------

// jmethodIDs must be there before a handler asks for them.
void PrimeMethods(jclass klass) {
  jint count = 0;
  jmethodID* methods = nullptr;
  if (jvmti->GetClassMethods(klass, &count, &methods) == JVMTI_ERROR_NONE)
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(methods));
}

void JNICALL OnClassPrepare(jvmtiEnv*, JNIEnv*, jthread, jclass klass) { PrimeMethods(klass); }

// AsyncGetCallTrace answers nothing unless this event is on.
void JNICALL OnClassLoad(jvmtiEnv*, JNIEnv*, jthread, jclass) {}

void JNICALL OnThreadStart(jvmtiEnv*, JNIEnv* env, jthread) {
  if (mode == Mode::kQueue && pthread_getspecific(queue_key) == nullptr)
    pthread_setspecific(queue_key, ASGST_RegisterQueue(env, kQueueSize, 0, CountQueued, nullptr));
}

void JNICALL OnThreadEnd(jvmtiEnv*, JNIEnv* env, jthread) {
  auto* queue = static_cast<ASGST_Queue*>(pthread_getspecific(queue_key));
  pthread_setspecific(queue_key, nullptr);
  if (queue != nullptr) ASGST_DeregisterQueue(env, queue);
}

void SetTimer(long us) {
  const timeval interval = {us / 1'000'000, us % 1'000'000};
  const itimerval timer = {interval, interval};
  setitimer(ITIMER_PROF, &timer, nullptr);
}

void JNICALL OnVMInit(jvmtiEnv*, JNIEnv* env, jthread thread) {
  if (asgst_attach(vm) != 0) {
    std::fprintf(stderr, "profiler: %s\n", asgst_error());
    return;
  }
  jint count = 0;
  jclass* classes = nullptr;
  jvmti->GetLoadedClasses(&count, &classes);
  for (jint i = 0; i < count; i++) PrimeMethods(classes[i]);
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
  OnThreadStart(jvmti, env, thread);
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  sigaction(SIGPROF, &action, nullptr);
  SetTimer(interval_us);
}

void JNICALL OnVMDeath(jvmtiEnv*, JNIEnv* env) {
  SetTimer(0);
  OnThreadEnd(jvmti, env, nullptr);
  WriteFlames();
}

bool ReadOptions(const char* options) {
  const std::string all = options == nullptr ? "" : options;
  const size_t first = all.find(','),
               second = first == std::string::npos ? first : all.find(',', first + 1);
  const std::string name = all.substr(0, first);
  if (name == "agct")
    mode = Mode::kAgct;
  else if (name == "iterator" || name.empty())
    mode = Mode::kIterator;
  else if (name == "queue")
    mode = Mode::kQueue;
  else
    return false;
  if (first != std::string::npos) interval_us = std::atol(all.c_str() + first + 1);
  if (second != std::string::npos) file = all.substr(second + 1);
  return interval_us > 0;
}

}  // namespace

extern "C" JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM* the_vm, char* options, void*) {
  vm = the_vm;
  if (!ReadOptions(options)) {
    std::fprintf(stderr,
                 "profiler: the options are MODE,MICROSECONDS,FILE; MODE is agct, iterator "
                 "or queue\n");
    return JNI_ERR;
  }
  pthread_key_create(&queue_key, nullptr);
  if (vm->GetEnv(reinterpret_cast<void**>(&jvmti), JVMTI_VERSION_1_2) != JNI_OK) return JNI_ERR;
  jvmtiEventCallbacks callbacks = {};
  callbacks.VMInit = OnVMInit;
  callbacks.VMDeath = OnVMDeath;
  callbacks.ClassLoad = OnClassLoad;
  callbacks.ClassPrepare = OnClassPrepare;
  callbacks.ThreadStart = OnThreadStart;
  callbacks.ThreadEnd = OnThreadEnd;
  jvmti->SetEventCallbacks(&callbacks, sizeof callbacks);
  for (const jvmtiEvent event :
       {JVMTI_EVENT_VM_INIT, JVMTI_EVENT_VM_DEATH, JVMTI_EVENT_CLASS_LOAD,
        JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_THREAD_START, JVMTI_EVENT_THREAD_END})
    jvmti->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
  return JNI_OK;
}
