// SPDX-License-Identifier: Apache-2.0
// A fake of a JDK that exports AsyncGetStackTrace. FAKE_LAYOUT: 0 draft, 1 early, 2 late prototype,
// 3 a synthetic layout. With FAKE_HIDES_CRASHES, the fake hides a crash whenever it cannot walk, as
// the late prototype hides crashes of its own. With FAKE_CRASHES, it crashes.
#include <unistd.h>

#include "harness/walkers/asgst_layout.h"  // IWYU pragma: keep (FAKE_LAYOUT chooses)
#include "harness/walkers/testing/hotspot_walk.h"

namespace walkhammer {
namespace {

#if FAKE_LAYOUT == 0
using FakeTrace = ASGST_CallTrace;
#elif FAKE_LAYOUT == 3
// None of the three: a kind of four bytes.
struct FakeTrace {
  jint num_frames, kind;
  ASGST_CallFrame* frames;
  void* frame_info;
};
#elif FAKE_LAYOUT == 1
using FakeTrace = AsgstEarlyTrace;
#else
using FakeTrace = AsgstLateTrace;
#endif

constexpr jint kAliveAndRunnable = 5;  // of JVMTI's thread state

// The API's code for an answer of HotspotWalk.
jint CodeOf(jint answer) {
  switch (answer) {
    case -6:
      return ASGST_UNKNOWN_JAVA;
    case -10:
      return ASGST_UNKNOWN_STATE;
    case kNotJava:
      return ASGST_THREAD_NOT_JAVA;
    default:
      return answer;
  }
}

// Converts an AgctFrame in place: both types of frames have 16 bytes.
void ConvertFrame(ASGST_CallFrame& frame) {
  const AgctFrame from = reinterpret_cast<AgctFrame&>(frame);
  const bool native = from.lineno == kAgctNativeBci;
  frame.java_frame.type = native ? ASGST_FRAME_NATIVE : ASGST_FRAME_JAVA;
  frame.java_frame.comp_level = 0;
  frame.java_frame.bci = native ? 65535 : static_cast<uint16_t>(from.lineno);
  frame.java_frame.method_id = from.method_id;
}
static_assert(sizeof(AgctFrame) == sizeof(ASGST_CallFrame));

jint Walk(FakeTrace& trace, jint depth, void* context) {
  const jint count = HotspotWalk(reinterpret_cast<AgctFrame*>(trace.frames), depth, context);
  for (jint i = 0; i < count; i++) ConvertFrame(trace.frames[i]);
#ifdef FAKE_HIDES_CRASHES
  constexpr char kLine[] = "catched crash\n";
  if (count == ASGST_UNKNOWN_JAVA && write(2, kLine, sizeof kLine - 1) > 0)
    return ASGST_UNKNOWN_STATE;
#endif
  return CodeOf(count);
}

#if FAKE_LAYOUT != 2
void Answer(FakeTrace& trace, jint depth, void* context, uint32_t) {
  trace.num_frames = Walk(trace, depth, context);
#if FAKE_LAYOUT != 0
  trace.kind = trace.num_frames > 0 ? 0 : 4;
#endif
}
#else
void Answer(FakeTrace& trace, jint depth, void* context, uint32_t options) {
  const int wanted_kinds = trace.kind, wanted_states = trace.state;
  if ((options & kAsgstSameThread) == 0) {
    trace.num_frames = kAsgstNoThread;
    return;
  }
  trace.num_frames = Walk(trace, depth, context);
  trace.kind = trace.num_frames > 0                  ? kAsgstJava
               : trace.num_frames == ASGST_GC_ACTIVE ? kAsgstGc
               : trace.num_frames == ASGST_DEOPT     ? kAsgstDeopt
                                                     : kAsgstUnknown;
  trace.state = kAliveAndRunnable;
  if (wanted_kinds != 0 && (wanted_kinds & trace.kind) == 0)
    trace.num_frames = kAsgstWrongKind;
  else if (wanted_states != 0 && (wanted_states & trace.state) == 0)
    trace.num_frames = kAsgstWrongState;
}
#endif

}  // namespace
}  // namespace walkhammer

// `trace` has the layout that is faked.
void AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* context, uint32_t options) {
#ifdef FAKE_CRASHES
  static int* volatile nowhere = nullptr;
  *nowhere = 1;
#endif
  walkhammer::Answer(reinterpret_cast<walkhammer::FakeTrace&>(*trace), depth, context, options);
}
