// SPDX-License-Identifier: Apache-2.0
#include "stress/step_code.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "harness/base/hash.h"
#include "harness/guard/arch.h"

namespace walkhammer::stress {
namespace {

// Names of CodeBlobs, JDK 8 to 28.
SteppedCode OfStub(const FoundCode& stub) {
  constexpr size_t kLongest = 64;
  if (stub.name == 0) return SteppedCode::kStub;
  const auto* text = reinterpret_cast<const char*>(stub.name);
  const std::string_view name(text, strnlen(text, kLongest));
  const auto has = [&](std::string_view part) { return name.find(part) != name.npos; };
  if (has("eopt") || has("ncommon")) return SteppedCode::kReframing;
  if (has("I2C/C2I") || has("dapter") || has("vtable")) return SteppedCode::kAdapter;
  return SteppedCode::kStub;
}

}  // namespace

uint64_t StepCode::MethodOf(const void* id) const {
  const MethodEntry* entry = methods_.Find(id);
  if (entry == nullptr || entry->unloaded.load(std::memory_order_relaxed)) return 0;
  return method_of_(const_cast<void*>(id));
}

bool StepCode::InSameNmethod(uint64_t a, uint64_t b) const {
  const FoundCode code = code_.Find(a);
  return code.kind == CodeKind::kNmethod && b >= code.begin && b < code.end;
}

SteppedCall StepCode::CallerAt(uint64_t return_pc, uint64_t fp) const {
  SteppedCall call;
  if (!code_.IsInCache(return_pc)) return call;
  if (code_.InInterpreter(return_pc)) {
    call.caller = SteppedCall::Caller::kInterpreted;
    if (fp != 0)
      call.method = *reinterpret_cast<const uint64_t*>(fp + 8 * int64_t{kInterpreterMethodSlot});
    return call;
  }
  const FoundCode code = code_.Find(return_pc);
  if (code.kind != CodeKind::kNmethod) return call;
  call.caller = SteppedCall::Caller::kCompiled;
  call.method = code_.MethodOf(code);
  // By the entry barrier an nmethod that is not to be entered any more is left for another entry
  // of its method: nothing of that method has run. C2 calls the barrier from behind the method's
  // code (C2EntryBarrierStub, JDK 20 and later), and jumps back; no other call that is not
  // described does so.
  const auto there = described_.Find(code.begin, return_pc);
  const auto is_entry = [&](uint64_t pc) {
    return code.frame_complete >= 0 &&
           pc - code.begin <= static_cast<uint64_t>(code.frame_complete);
  };
  call.may_lack =
      is_entry(return_pc) ||
      (!there && is_entry(JumpTarget(reinterpret_cast<const uint8_t*>(return_pc), return_pc)));
  if (code.level == 0) {
    call.frames = 1;
  } else if (there) {
    call.frames = there->callers + 1;
    call.newest = MethodOf(there->method);
  }
  return call;
}

RunningCode StepCode::CodeAt(uint64_t pc) const {
  if (!code_.IsInCache(pc)) return {};
  if (code_.InInterpreter(pc))
    return {codelets_.At(pc).code >= 0 ? SteppedCode::kByteCode : SteppedCode::kInterpreter};
  const FoundCode code = code_.Find(pc);
  if (code.kind == CodeKind::kStub) return {OfStub(code), 0, code.frame_words};
  if (code.kind != CodeKind::kNmethod) return {};
  return {code.level == 0 ? SteppedCode::kWrapper : SteppedCode::kCompiled, code_.MethodOf(code),
          code.frame_words};
}

void StepCode::Read(const Trace& trace, int depth, AnsweredFrames& frames) {
  frames.Measure(trace, depth);
  for (int i = 0; i < frames.count; i++) {
    const void* id = trace.frames[i].method;
    KnownId& known = known_[PlaceOf(reinterpret_cast<uint64_t>(id), 32) % kKnownIds];
    if (known.id != id) known = {id, id == nullptr ? 0 : MethodOf(id)};
    frames.methods[i] = known.method;
  }
}

void StepCode::Forget() { std::fill(known_, known_ + kKnownIds, KnownId{}); }

}  // namespace walkhammer::stress
