// SPDX-License-Identifier: Apache-2.0
// The function of profile_late.h. Compiled alone: that header has names of asgst.h.
#include "harness/asgst/api/stack_trace.h"
#include "harness/asgst/include/profile_late.h"

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

// Of asgst_iterator.h, which has names of profile_late.h, too.
extern "C" int JNICALL ASGST_ThreadState(void);

namespace {

uint8_t KindOf(jint num_frames) {
  if (num_frames == ASGST_NO_CLASS_LOAD) return ASGST_UNKNOWN_TRACE;
  if (!IsJavaThread()) return ASGST_CPP_TRACE;
  if (num_frames == ASGST_DEOPT) return ASGST_DEOPT_TRACE;
  if (IsNewThread()) return ASGST_NEW_THREAD_TRACE;
  return num_frames < 0 ? ASGST_UNKNOWN_TRACE : ASGST_JAVA_TRACE;
}

// In JEP 435 stubs are 4, and C code is 5.
void GiveLateTypes(const ASGST_CallTrace& trace) {
  for (jint i = 0; i < trace.num_frames; i++)
    if (trace.frames[i].type > ASGST_FRAME_CPP) trace.frames[i].type = ASGST_FRAME_CPP;
}

}  // namespace

void asgst_get_stack_trace_of_kind(ASGST_CallTrace* trace, jint depth, void* ucontext,
                                   int32_t options) {
  constexpr uint32_t kHaveEffect = ASGST_INCLUDE_C_FRAMES | ASGST_INCLUDE_NON_JAVA_THREADS;
  const uint8_t kinds = trace->kind;
  const jint states = trace->state;
  trace->frame_info = nullptr;
  trace->num_frames = WalkCurrentThread(trace->frames, depth, ucontext,
                                        static_cast<uint32_t>(options) & kHaveEffect);
  trace->kind = KindOf(trace->num_frames);
  trace->state = IsJavaThread() ? ASGST_ThreadState() : -1;
  GiveLateTypes(*trace);
  if (kinds != 0 && (kinds & trace->kind) == 0)
    trace->num_frames = ASGST_WRONG_KIND;
  else if (states != 0 && trace->state != -1 && (states & trace->state) == 0)
    trace->num_frames = ASGST_WRONG_STATE;
}
