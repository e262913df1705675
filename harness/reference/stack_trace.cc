// AsyncGetStackTrace and AsyncGetCallTrace2: see profile.h.
#include <cstdio>

#include "harness/reference/attach.h"
#include "harness/reference/profile.h"
#include "harness/reference/unwind_service.h"

namespace {

using namespace walkhammer;

constexpr uint16_t kNoBci = 65535;
char error[512];

void Fill(const JavaFrame& from, ASGST_CallFrame& to) {
  if (from.type == FrameType::kStub || from.type == FrameType::kCpp) {
    to.non_java_frame.type = static_cast<uint8_t>(from.type);
    to.non_java_frame.pc = reinterpret_cast<void*>(from.pc);
    return;
  }
  to.java_frame.type = static_cast<uint8_t>(from.type);
  to.java_frame.comp_level = static_cast<uint8_t>(from.level);
  to.java_frame.bci = from.bci < 0 ? kNoBci : static_cast<uint16_t>(from.bci);
  to.java_frame.method_id = reinterpret_cast<jmethodID>(from.facts.id);
}

jint Walk(ASGST_CallTrace& trace, jint depth, const ucontext_t* context, uint32_t options) {
  const WalkLayout* layout = Live();
  if (layout == nullptr) return ASGST_NO_CLASS_LOAD;
  const uint64_t thread = CurrentThread();
  if (thread == 0) return ASGST_THREAD_NOT_JAVA;
  const WalkStart start = StartOf(context, thread, (options & ASGST_INCLUDE_C_FRAMES) != 0);
  const LiveMemory memory = MemoryOf(start);
  JavaWalk walk(*layout, memory, start);
  const WalkStatus status = walk.Begin();
  if (status != WalkStatus::kFound) return static_cast<jint>(status);
  jint count = 0;
  for (JavaFrame frame; count < depth && walk.Next(frame); count++)
    Fill(frame, trace.frames[count]);
  AskForTables();
  return count > 0 || !walk.broken() ? count : static_cast<jint>(ASGST_UNKNOWN_JAVA);
}

}  // namespace

void AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  trace->num_frames = Walk(*trace, depth, static_cast<const ucontext_t*>(ucontext), options);
}

void AsyncGetCallTrace2(ASGST_CallTrace* trace, jint depth, void* ucontext, uint32_t options) {
  AsyncGetStackTrace(trace, depth, ucontext, options);
}

jint asgst_attach(JavaVM* vm) {
  const Status status = Attach(vm);
  if (!status.ok()) snprintf(error, sizeof error, "%s", status.failure().message.c_str());
  return status.ok() ? 0 : -1;
}

jint asgst_wait_for_c_frames(jint milliseconds) { return WaitForTables(milliseconds) ? 0 : -1; }

const char* asgst_error() { return error; }
