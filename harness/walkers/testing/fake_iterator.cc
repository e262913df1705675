// SPDX-License-Identifier: Apache-2.0
// A fake of a JDK that exports the ASGST iterator. With FAKE_OLDER: under the prefix JFRLL_, with
// the older numbering, and frames that hold jmethodIDs.
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/guard/arch.h"
#include "harness/request/walk_request.h"
#include "harness/walkers/testing/hotspot_walk.h"

#ifdef FAKE_OLDER
#define API(name) JFRLL_##name
#else
#define API(name) ASGST_##name
#endif

using namespace walkhammer;  // NOLINT(google-build-using-namespace)

struct ASGST_IteratorOpaque {
  const AgctFrame* frames;
  int count, next;
};

namespace {

#ifdef FAKE_OLDER
constexpr int kNoClassLoad = -4, kNoTopJavaFrame = -5;
constexpr uintptr_t kDisguise = 0;
#else
constexpr int kNoClassLoad = -17, kNoTopJavaFrame = ASGST_NO_TOP_JAVA_FRAME;
// Makes sure that no code can take a method for a jmethodID.
constexpr uintptr_t kDisguise = 0x5a5a5a5a5a5a5a5a;
#endif

int CodeOf(jint answer) {
  switch (answer) {
    case kNotJava:
      return ASGST_NO_THREAD;
    case -1:
      return kNoClassLoad;
    case -8:
      return ASGST_THREAD_IS_EXITING;
    case -2:
    case -7:
    case -9:
    case -10:
      return ASGST_UNSAFE_STATE;
    default:
      return kNoTopJavaFrame;
  }
}

// Frames of one thread's walk. A thread keeps its room for good, as a walk that crashes cannot
// return it. So a walk inside of another overwrites the outer walk's frames.
struct Room {
  std::atomic<int> tid;
  AgctFrame frames[WalkRequest::kMaxDepth];
};
constexpr int kRooms = 64;
Room rooms[kRooms];

int Run(void* context, ASGST_IteratorHandler fun, void* argument) {
  const auto tid = static_cast<int>(syscall(SYS_gettid));
  for (Room& room : rooms) {
    int owner = 0;
    if (!room.tid.compare_exchange_strong(owner, tid) && owner != tid) continue;
    const jint count = HotspotWalk(room.frames, WalkRequest::kMaxDepth, context);
    if (count > 0) {
      ASGST_Iterator iterator{room.frames, count, 0};
      fun(&iterator, argument);
    }
    return count > 0 ? static_cast<int>(ASGST_JAVA_TRACE) : CodeOf(count);
  }
  return ASGST_UNSAFE_STATE;
}

}  // namespace

extern "C" {

JNIEXPORT int JNICALL API(RunWithIterator)(void* context, int32_t, ASGST_IteratorHandler fun,
                                           void* argument) {
  return Run(context, fun, argument);
}

JNIEXPORT int JNICALL API(RunWithIteratorFromFrame)(void* sp, void* fp, void* pc, int,
                                                    ASGST_IteratorHandler fun, void* argument) {
  ucontext_t context{};
  WriteContext({reinterpret_cast<uint64_t>(pc), reinterpret_cast<uint64_t>(sp),
                reinterpret_cast<uint64_t>(fp), 0},
               context);
  return Run(&context, fun, argument);
}

JNIEXPORT int JNICALL API(NextFrame)(ASGST_Iterator* iterator, ASGST_Frame* frame) {
  *frame = {};
  if (iterator->next == iterator->count) return ASGST_NO_FRAME;
  const AgctFrame& from = iterator->frames[iterator->next++];
  const bool native = from.lineno == kAgctNativeBci;
  frame->type = native ? ASGST_FRAME2_JAVA_NATIVE : ASGST_FRAME2_JAVA;
  frame->comp_level = 0;
  frame->bci = native ? -1 : from.lineno;
  frame->method =
      reinterpret_cast<ASGST_Method>(reinterpret_cast<uintptr_t>(from.method_id) ^ kDisguise);
  return 1;
}

#ifndef FAKE_OLDER
JNIEXPORT jmethodID JNICALL ASGST_MethodToJMethodID(ASGST_Method method) {
  return reinterpret_cast<jmethodID>(reinterpret_cast<uintptr_t>(method) ^ kDisguise);
}
#endif
}
