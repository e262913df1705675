// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/threads.h"

#include "harness/asgst/process/attach.h"

namespace walkhammer::asgst {
namespace {

constexpr int kMostTries = 16;              // the list is replaced whenever a thread comes or goes
constexpr uint32_t kMostThreads = 1 << 20;  // more would be nonsense

struct {
  // Address of ThreadsSMRSupport::_java_thread_list, a ThreadsList*; before JDK 14, of
  // Threads::_thread_list, the first JavaThread of a chain.
  const uint64_t* list = nullptr;
  int length, threads;  // ThreadsList::_length, ::_threads
  int next = -1;        // JavaThread::_next, of the chain; -1: no chain, a list
  int os_thread, id;    // Thread::_osthread, OSThread::_thread_id
  // JavaThread::_monitor_owner_id (JDK 24 and later), ::_threadObj, ::_vthread (JDK 21 and later);
  // -1: not in this JDK
  int owner_id = -1, object = -1, virtual_thread = -1;
  uint64_t env;  // JNIEnv* = JavaThread* + env, bytes
} at;

uint64_t CurrentList() { return __atomic_load_n(at.list, __ATOMIC_ACQUIRE); }

// The first listed thread that `wanted` is true for, or 0. The JVM may have replaced and freed a
// list while it was read: then what was found there does not count. A search along a chain that
// changes in between may end early and miss a thread.
template <typename Wanted>
uint64_t FindThread(Wanted wanted) {
  const LiveMemory memory;
  if (at.next >= 0) {
    uint64_t thread = CurrentList();
    for (uint32_t n = 0; thread != 0 && n < kMostThreads; n++) {
      if (wanted(thread)) return thread;
      if (!memory.ReadWord(thread + at.next, thread)) return 0;
    }
    return 0;
  }
  for (int i = 0; i < kMostTries && at.list != nullptr; i++) {
    const uint64_t list = CurrentList();
    uint64_t threads = 0, found = 0, thread = 0;
    uint32_t count = 0;
    if (memory.Read(list + at.length, count) && memory.ReadWord(list + at.threads, threads))
      for (uint32_t n = 0; n < count && n < kMostThreads && found == 0; n++)
        if (memory.ReadWord(threads + 8ULL * n, thread) && wanted(thread)) found = thread;
    if (CurrentList() == list) return found;
  }
  return 0;
}

constinit __attribute__((tls_model("initial-exec"))) thread_local bool is_processing = false;

}  // namespace

Status ReadThreads(const VmStructs& structs, uint64_t thread, const JNIEnv* env) {
  StructReader read(structs);
  const auto* chain = static_cast<uint64_t*>(structs.Static("Threads", "_thread_list"));
  if (chain != nullptr) {
    at.next = read.Need("JavaThread", "_next");
  } else {
    at.length = read.Need("ThreadsList", "_length");
    at.threads = read.Need("ThreadsList", "_threads");
  }
  at.os_thread = read.Need("JavaThread", "_osthread", "Thread");
  at.id = read.Need("OSThread", "_thread_id");
  at.env = reinterpret_cast<uint64_t>(env) - thread;
  at.owner_id = read.Optional("JavaThread", "_monitor_owner_id");
  at.object = read.Optional("JavaThread", "_threadObj");
  at.virtual_thread = read.Optional("JavaThread", "_vthread");
  const uint64_t* list =
      chain != nullptr ? chain : read.NeedStatic("ThreadsSMRSupport", "_java_thread_list");
  const Status complete = read.Complete();
  if (complete.ok()) at.list = list;
  return complete;
}

bool IsListed(uint64_t thread) {
  return thread != 0 && FindThread([=](uint64_t listed) { return listed == thread; }) != 0;
}

std::unordered_set<uint64_t> ListedThreads() {
  std::unordered_set<uint64_t> threads;
  FindThread([&](uint64_t listed) {
    threads.insert(listed);
    return false;
  });
  return threads;
}

uint64_t ThreadOfEnv(const JNIEnv* env) {
  const uint64_t thread = reinterpret_cast<uint64_t>(env) - at.env;
  return env != nullptr && IsListed(thread) ? thread : 0;
}

uint64_t ThreadOfId(int64_t os_thread) {
  if (os_thread <= 0 || os_thread > INT32_MAX) return 0;
  return FindThread([=](uint64_t listed) { return OsThreadOf(listed) == os_thread; });
}

JNIEnv* EnvOf(uint64_t thread) {
  return thread == 0 ? nullptr : reinterpret_cast<JNIEnv*>(thread + at.env);
}

// Without an id, the address of the thread object is used. A collection may move the object: then
// the same virtual thread looks like another one. So would a thread that carries none, while a
// concurrent collector has moved only one of the two references to its object.
uint64_t RunnerOf(uint64_t thread) {
  const LiveMemory memory;
  uint64_t id = 0, own = 0, handle = 0, entry = 0;
  if (at.owner_id >= 0) return memory.ReadWord(thread + at.owner_id, id) ? id : 0;
  const WalkLayout* layout = Live();
  if (layout != nullptr && layout->cont_entry >= 0 &&
      memory.ReadWord(thread + static_cast<uint64_t>(layout->cont_entry), entry) && entry == 0)
    return 0;
  if (at.object < 0 || at.virtual_thread < 0 || !memory.ReadWord(thread + at.object, handle) ||
      !memory.ReadWord(handle, own) || !memory.ReadWord(thread + at.virtual_thread, handle) ||
      !memory.ReadWord(handle, id))
    return 0;
  return id == own ? 0 : id;
}

int32_t OsThreadOf(uint64_t thread) {
  const LiveMemory memory;
  uint64_t os_thread = 0;
  int32_t id = 0;
  return memory.ReadWord(thread + at.os_thread, os_thread) && memory.Read(os_thread + at.id, id)
             ? id
             : 0;
}

void SetProcessing(bool on) { is_processing = on; }

bool IsProcessing() { return is_processing; }

}  // namespace walkhammer::asgst
