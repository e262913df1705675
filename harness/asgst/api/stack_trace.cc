// SPDX-License-Identifier: Apache-2.0
// AsyncGetStackTrace and AsyncGetCallTrace2: see asgst.h.
#include <cstdio>

#include "harness/asgst/api/fill_frame.h"
#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/unwind/unwind_service.h"

namespace {

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

char error[512];

__attribute__((tls_model("initial-exec"))) thread_local LastWalk last_walk;

jint Walk(ASGST_CallTrace& trace, jint depth, const ucontext_t* context, uint32_t options) {
  last_walk = {ASGST_WALK_END_NO_JAVA, -1};
  if (Live() == nullptr) return ASGST_NO_CLASS_LOAD;
  const uint64_t thread = CurrentJavaThread();
  if (thread == 0) return ASGST_THREAD_NOT_JAVA;
  const WalkStart start = StartOf(context, thread, (options & ASGST_INCLUDE_C_FRAMES) != 0);
  return WalkInto(trace, depth, start, MemoryOf(start));
}

}  // namespace

LastWalk& walkhammer::asgst::LastWalkOfThread() { return last_walk; }

jint asgst_walk_end() { return last_walk.end; }

jint asgst_guessed_from() { return last_walk.guessed_from; }

void AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  trace->num_frames = Walk(*trace, depth, static_cast<const ucontext_t*>(ucontext), options);
}

void AsyncGetCallTrace2(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  AsyncGetStackTrace(trace, depth, ucontext, options);
}

jint asgst_attach(JavaVM* vm) {
  const walkhammer::Status status = Attach(vm);
  snprintf(error, sizeof error, "%s", status.ok() ? "" : status.failure().message.c_str());
  return status.ok() ? 0 : -1;
}

jint asgst_wait_for_c_frames(jint milliseconds) { return WaitForTables(milliseconds) ? 0 : -1; }

const char* asgst_error() { return error; }
