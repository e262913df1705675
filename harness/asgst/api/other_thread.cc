// SPDX-License-Identifier: Apache-2.0
// Walks of threads that the caller keeps parked: see asgst.h.
#include "harness/asgst/api/fill_frame.h"
#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/threads.h"

namespace {

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

jint WalkOther(uint64_t thread, ASGST_CallTrace& trace, jint depth, const void* ucontext,
               uint32_t options) {
  LastWalkOfThread() = {ASGST_WALK_END_NO_JAVA, -1};
  WalkStart start;
  const bool non_java = (options & ASGST_INCLUDE_C_FRAMES) != 0;
  if (thread == 0 ||
      !StartOfOther(static_cast<const ucontext_t*>(ucontext), thread, start, non_java))
    return ASGST_THREAD_NOT_JAVA;
  // If the thread is not parked after all, its stack may change, or vanish, while it is read.
  return WalkInto(trace, depth, start, LiveMemory(0, 0));
}

}  // namespace

void asgst_get_stack_trace_of(JNIEnv* env, ASGST_CallTrace* trace, jint depth, void* ucontext,
                              uint32_t options) {
  trace->num_frames = Live() == nullptr
                          ? static_cast<jint>(ASGST_NO_CLASS_LOAD)
                          : WalkOther(ThreadOfEnv(env), *trace, depth, ucontext, options);
}

void asgst_get_stack_trace_of_os_thread(jlong os_thread_id, JNIEnv** env, ASGST_CallTrace* trace,
                                        jint depth, void* ucontext, uint32_t options) {
  if (env != nullptr) *env = nullptr;
  if (Live() == nullptr) {
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
