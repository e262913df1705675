// SPDX-License-Identifier: Apache-2.0
// The functions of asgct.h, by those of asgst.h.
#include "harness/asgst/include/asgct.h"
#include "harness/asgst/include/asgst.h"

namespace {

// Frames of both APIs have the same size, so a walk writes into the caller's own array.
static_assert(sizeof(ASGCT_CallFrame) == sizeof(ASGST_CallFrame));

constexpr jint kThreadExit = -8;  // ticks_thread_exit of forte.cpp, also where there is no thread

ASGST_CallTrace Begin(const ASGCT_CallTrace& trace) {
  return {0, reinterpret_cast<ASGST_CallFrame*>(trace.frames), nullptr};
}

void Finish(const ASGST_CallTrace& from, ASGCT_CallTrace& to) {
  constexpr jint kNativeMethod = -3;
  for (jint i = 0; i < from.num_frames; i++) {
    const ASGST_JavaFrame frame = from.frames[i].java_frame;
    to.frames[i] = {frame.type == ASGST_FRAME_NATIVE ? kNativeMethod : frame.bci, frame.method_id};
  }
  to.num_frames = from.num_frames == ASGST_THREAD_NOT_JAVA ? kThreadExit : from.num_frames;
}

}  // namespace

void asgst_get_call_trace(ASGCT_CallTrace* trace, jint depth, void* ucontext) {
  ASGST_CallTrace walk = Begin(*trace);
  if (trace->env_id == nullptr)
    AsyncGetStackTrace(&walk, depth, ucontext, ASGST_WITHOUT_FROZEN_FRAMES);
  else
    asgst_get_stack_trace_of(trace->env_id, &walk, depth, ucontext, ASGST_WITHOUT_FROZEN_FRAMES);
  Finish(walk, *trace);
}

void asgst_get_call_trace_of_os_thread(ASGCT_CallTrace* trace, jint depth, void* ucontext,
                                       jlong os_thread_id) {
  ASGST_CallTrace walk = Begin(*trace);
  JNIEnv* env = nullptr;
  asgst_get_stack_trace_of_os_thread(os_thread_id, &env, &walk, depth, ucontext,
                                     ASGST_WITHOUT_FROZEN_FRAMES);
  if (trace->env_id == nullptr) trace->env_id = env;
  Finish(walk, *trace);
}
