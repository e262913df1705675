// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/iterator_drift.h"

#include <ucontext.h>

#include <cstring>
#include <string>

namespace walkhammer {
namespace {

constexpr int kOlderNoTopJavaFrame = -5;
constexpr int kMostIterated = 16;
constexpr unsigned char kFrameFill = 0xa5;

// Input and output of Handle.
struct Look {
  const IteratorApi& api;
  const KnownFrames& known;
  bool handled = false, found = false, is_id = false;
  int frames = 0, result = 0;
  std::string wrong = {};
};

void LookAt(const ASGST_Frame& frame, Look& look) {
  const bool is_id = reinterpret_cast<jmethodID>(frame.method) == look.known.caller;
  if (frame.type == ASGST_FRAME2_NON_JAVA) return;
  // A jmethodID must not reach id_of, which would take the id for a method.
  if (reinterpret_cast<jmethodID>(frame.method) == look.known.native) return;
  if (!is_id && (look.api.id_of == nullptr || look.api.id_of(frame.method) != look.known.caller))
    return;
  look.found = true;
  look.is_id = is_id;
  if ((frame.type != ASGST_FRAME2_JAVA && frame.type != ASGST_FRAME2_JAVA_INLINED) ||
      frame.bci != look.known.bci)
    look.wrong = "the known method's frame has type " + std::to_string(frame.type) + " and bci " +
                 std::to_string(frame.bci) + ", not type 1 and bci " +
                 std::to_string(look.known.bci);
}

void Handle(ASGST_Iterator* iterator, void* data) {
  auto& look = *static_cast<Look*>(data);
  look.handled = true;
  struct {
    ASGST_Frame frame;
    unsigned char behind[64];
  } painted;
  for (; look.frames < kMostIterated && look.wrong.empty(); look.frames++) {
    std::memset(static_cast<void*>(&painted), kFrameFill, sizeof painted);
    look.result = look.api.next(iterator, &painted.frame);
    for (unsigned char byte : painted.behind)
      if (byte != kFrameFill) look.wrong = "it wrote behind the frame's 48 bytes";
    if (look.result != 1 || !look.wrong.empty()) return;
    if (!look.found) LookAt(painted.frame, look);
  }
}

Failure UnknownIterator(const std::string& seen) {
  return Unable("this iterator does not work as walkhammer knows it: " + seen);
}

}  // namespace

int NewerIteratorError(int older) {
  switch (older) {
    case -4:
      return kOlderNoClassLoad;
    case kOlderNoTopJavaFrame:
      return ASGST_NO_TOP_JAVA_FRAME;
    case -6:
      return ASGST_ENQUEUE_NO_QUEUE;
    case -7:
      return ASGST_ENQUEUE_FULL_QUEUE;
    default:
      return older;
  }
}

Result<bool> ProbeIteratorMethods(const IteratorApi& api, const KnownFrames& known, void* context) {
  Look look{api, known};
  int kind = 0;
  Status called = CallUnknown([&] { kind = api.run(context, 0, Handle, &look); });
  if (!called.ok()) return UnknownIterator(called.failure().message);
  if (!look.handled)
    return UnknownIterator("it answered " + std::to_string(kind) +
                           " on a thread that is in a native method which Java has called");
  if (!look.wrong.empty()) return UnknownIterator(look.wrong);
  if (look.found) return look.is_id;
  if (look.frames == 0)
    return UnknownIterator("the first NextFrame answered " + std::to_string(look.result));
  return UnknownIterator("of " + std::to_string(look.frames) +
                         " frames none holds the known method, neither as a jmethodID nor " +
                         (api.id_of == nullptr
                              ? "as an ASGST_Method: there is no MethodToJMethodID"
                              : "as an ASGST_Method that MethodToJMethodID converts to it"));
}

Result<IteratorDrift> FindIteratorDrift(const IteratorApi& api, JavaVM* vm) {
  ucontext_t context;
  getcontext(&context);
  IteratorDrift drift;
  drift.older_errors =
      api.run(
          &context, 0, [](ASGST_Iterator*, void*) {}, nullptr) == kOlderNoTopJavaFrame;
  Result<bool> found = ToolFailed("the iterator was not probed");
  RETURN_IF_ERROR(CallFromJava(vm, [&](const KnownFrames& known) {
    ucontext_t here;
    getcontext(&here);
    found = ProbeIteratorMethods(api, known, &here);
  }));
  ASSIGN_OR_RETURN(drift.method_is_id, std::move(found));
  return drift;
}

}  // namespace walkhammer
