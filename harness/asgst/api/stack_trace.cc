// SPDX-License-Identifier: Apache-2.0
// The functions of asgst.h.
#include "harness/asgst/api/stack_trace.h"

#include <cstdio>

#include "harness/asgst/api/ids.h"
#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/self_attach.h"
#include "harness/asgst/process/thread_status.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/unwind/unwind_service.h"

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)
using walkhammer::WalkEnd;

namespace {

static_assert(static_cast<int>(WalkEnd::kNoMethod) == ASGST_WALK_END_NO_METHOD &&
              static_cast<int>(WalkEnd::kReturnBarrier) == ASGST_WALK_END_RETURN_BARRIER &&
              static_cast<int>(WalkEnd::kNoJava) == ASGST_WALK_END_NO_JAVA &&
              static_cast<int>(WalkEnd::kGuessed) == ASGST_WALK_END_GUESSED);

char error[512];

// What asgst_walk_end, asgst_guessed_from and asgst_guessed_c_frame answer. The storage is there
// before a thread's first signal: a plain thread_local may allocate at its first use.
struct LastWalk {
  jint end = ASGST_WALK_END_UNTOLD;
  jint guessed_from = -1;
  jint guessed_c_frame = -1;
};
__attribute__((tls_model("initial-exec"))) thread_local LastWalk last_walk;

void Fill(const JavaFrame& from, ASGST_CallFrame& to) {
  if (from.type == FrameType::kStub || from.type == FrameType::kCpp) {
    to.java_frame.is_frozen = 0;
    to.non_java_frame.type = static_cast<uint8_t>(from.type);
    to.non_java_frame.pc = reinterpret_cast<void*>(from.pc);
    return;
  }
  to.java_frame.type = static_cast<uint8_t>(from.type);
  to.java_frame.comp_level = from.level;
  to.java_frame.bci = from.bci < 0 ? PcRule::kNoBci : static_cast<uint16_t>(from.bci);
  to.java_frame.is_frozen = from.frozen ? 1 : 0;
  to.java_frame.method_id = reinterpret_cast<jmethodID>(from.facts.id);
}

void Fill(const JavaWalk::UsualFrame& from, ASGST_CallFrame& to) {
  to.java_frame.type = static_cast<uint8_t>(from.type);
  to.java_frame.comp_level = from.level;
  to.java_frame.bci = from.bci;
  to.java_frame.is_frozen = 0;
  to.java_frame.method_id = reinterpret_cast<jmethodID>(from.id);
}

// Null, with a line on stderr, if libasgst is not attached.
const WalkLayout* Attached() {
  const WalkLayout* layout = Live();
  if (layout == nullptr) TellNotAttached();
  return layout;
}

// Fills in trace.frames, at most `depth` of them, from a walk that has begun with `status`. Returns
// how many, or a code of asgst.h.
jint WalkInto(ASGST_CallTrace& trace, jint depth, JavaWalk& walk, WalkStatus status) {
  const bool found = status == WalkStatus::kFound;
  jint count = 0, guessed_from = -1, guessed_c_frame = -1;
  for (JavaFrame frame; found && count < depth; count++) {
    ASGST_CallFrame* to = trace.frames + count;
    count += walk.TakeUsual(depth - count,
                            [&to](const JavaWalk::UsualFrame& usual) { Fill(usual, *to++); });
    if (count == depth || !walk.Next(frame)) break;
    Fill(frame, trace.frames[count]);
    jint& guess = frame.type == FrameType::kCpp ? guessed_c_frame : guessed_from;
    if (frame.guessed && guess < 0) guess = count;
  }
  const WalkEnd end = walk.end();
  const bool is_full = end == WalkEnd::kUntold && count == depth;
  last_walk = {static_cast<jint>(is_full ? WalkEnd::kDepth : end), guessed_from, guessed_c_frame};
  AskForTables();
  if (!found) return static_cast<jint>(status);
  return count > 0 || !walk.broken() ? count : static_cast<jint>(ASGST_UNKNOWN_JAVA);
}

jint WalkOutsideJava(ASGST_CallTrace& trace, jint depth, const ucontext_t* context,
                     uint32_t options) {
  if ((options & ASGST_INCLUDE_NON_JAVA_THREADS) == 0) return ASGST_THREAD_NOT_JAVA;
  if ((options & ASGST_INCLUDE_C_FRAMES) == 0) return ASGST_NO_JAVA_FRAME;
  const WalkStart start = StartOutsideJava(context);
  const LiveMemory memory;
  JavaWalk walk(*Live(), memory, start);
  return WalkInto(trace, depth, walk, walk.BeginOutsideJava());
}

jint Walk(ASGST_CallTrace& trace, jint depth, const ucontext_t* context, uint32_t options) {
  last_walk = {ASGST_WALK_END_NO_JAVA};
  trace.frame_info = nullptr;
  const WalkLayout* layout = Attached();
  if (layout == nullptr) return ASGST_NO_CLASS_LOAD;
  const uint64_t thread = CurrentJavaThread();
  if (thread == 0) return WalkOutsideJava(trace, depth, context, options);
  WalkStart start = StartOf(context, thread, (options & ASGST_INCLUDE_C_FRAMES) != 0);
  if ((options & ASGST_WITHOUT_CACHES) != 0) {
    start.caches = nullptr;
    start.uses_rules = false;
  }
  start.frozen = (options & ASGST_WITHOUT_FROZEN_FRAMES) == 0;
  start.unpacked = true;
  const LiveMemory memory = MemoryOf(start);
  JavaWalk walk(*layout, memory, start);
  const WalkStatus status = walk.Begin();
  if (status == WalkStatus::kNoJavaFrame && IsExiting(thread)) return ASGST_THREAD_EXIT;
  return WalkInto(trace, depth, walk, status);
}

// Walks a thread that the caller keeps parked.
jint WalkOther(uint64_t thread, ASGST_CallTrace& trace, jint depth, const void* ucontext,
               uint32_t options) {
  last_walk = {ASGST_WALK_END_NO_JAVA};
  trace.frame_info = nullptr;
  WalkStart start;
  const bool non_java = (options & ASGST_INCLUDE_C_FRAMES) != 0;
  if (thread == 0 ||
      !StartOfOther(static_cast<const ucontext_t*>(ucontext), thread, start, non_java))
    return ASGST_THREAD_NOT_JAVA;
  start.frozen = (options & ASGST_WITHOUT_FROZEN_FRAMES) == 0;
  start.unpacked = true;
  // If the thread is not parked after all, its stack may change, or vanish, while it is read.
  const LiveMemory memory;
  JavaWalk walk(*Live(), memory, start);
  return WalkInto(trace, depth, walk, walk.Begin());
}

}  // namespace

jint walkhammer::asgst::WalkCurrentThread(void* frames, jint depth, void* ucontext,
                                          uint32_t options) {
  ASGST_CallTrace trace = {0, static_cast<ASGST_CallFrame*>(frames), nullptr};
  AsyncGetStackTrace(&trace, depth, ucontext, options);
  return trace.num_frames;
}

bool walkhammer::asgst::IsJavaThread() { return Live() != nullptr && CurrentJavaThread() != 0; }

bool walkhammer::asgst::IsNewThread() {
  constexpr int kNew = 2;  // number of ThreadStates
  if (!IsJavaThread()) return false;
  const auto* state =
      reinterpret_cast<const volatile int32_t*>(CurrentJavaThread() + Live()->jvm.thread_state);
  return Live()->jvm.states.StateOf(*state) == kNew;
}

jint asgst_walk_end() { return last_walk.end; }

jint asgst_guessed_from() { return last_walk.guessed_from; }

jint asgst_reads() {
  if (Live() == nullptr) return ASGST_READS_NOT_ATTACHED;
  return LiveMemory().is_safefetch() ? ASGST_READS_SAFEFETCH : ASGST_READS_KERNEL;
}

jint asgst_guessed_c_frame() { return last_walk.guessed_c_frame; }

void AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  trace->num_frames = Walk(*trace, depth, static_cast<const ucontext_t*>(ucontext), options);
}

void AsyncGetCallTrace2(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  AsyncGetStackTrace(trace, depth, ucontext, options);
}

jint asgst_attach(JavaVM* vm) {
  AttachComes();
  const walkhammer::Status status = Attach(vm);
  if (status.ok()) RegisterWaitingHandlers();
  snprintf(error, sizeof error, "%s", status.ok() ? "" : status.failure().message.c_str());
  return status.ok() ? 0 : -1;
}

jint asgst_wait_for_c_frames(jint milliseconds) { return WaitForTables(milliseconds) ? 0 : -1; }

const char* asgst_error() { return error; }

void asgst_get_stack_trace_of(JNIEnv* env, ASGST_CallTrace* trace, jint depth, void* ucontext,
                              uint32_t options) {
  trace->num_frames = Attached() != nullptr
                          ? WalkOther(ThreadOfEnv(env), *trace, depth, ucontext, options)
                          : static_cast<jint>(ASGST_NO_CLASS_LOAD);
}

void asgst_get_stack_trace_of_os_thread(jlong os_thread_id, JNIEnv** env, ASGST_CallTrace* trace,
                                        jint depth, void* ucontext, uint32_t options) {
  if (env != nullptr) *env = nullptr;
  if (Attached() == nullptr) {
    trace->num_frames = ASGST_NO_CLASS_LOAD;
    return;
  }
  const uint64_t thread = os_thread_id == -1 ? CurrentJavaThread() : ThreadOfId(os_thread_id);
  if (env != nullptr) *env = EnvOf(thread);
  if (os_thread_id == -1)
    AsyncGetStackTrace(trace, depth, ucontext, options);
  else
    trace->num_frames = WalkOther(thread, *trace, depth, ucontext, options);
}
