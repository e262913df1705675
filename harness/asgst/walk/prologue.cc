// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {

namespace {

// Shape in a stub that does not say where its frame is complete: C1's stubs, and blobs. They save
// registers one after another, so the frame size alone does not lead to the caller; most keep a
// frame pointer.
FrameShape ShapeOfStub(const CodeRules& rules, const MemoryReader& memory, const FoundCode& stub,
                       uint64_t pc) {
  int pushed = 0, all = 0;
  const uint64_t at = pc - stub.begin;
  const bool keeps_fp = rules.sets_up_fp(memory, stub.begin, pushed, all);
  if (at == 0 || (keeps_fp && at < static_cast<uint64_t>(pushed)))
    return rules.has_link_register ? FrameShape::kInLink : FrameShape::kNone;
  if (!keeps_fp) return rules.shape_at(memory, stub, pc);
  if (at < static_cast<uint64_t>(all)) return FrameShape::kFpPushed;
  const FrameShape exit = rules.shape_at(memory, stub, pc);
  return exit == FrameShape::kWhole ? FrameShape::kByFp : exit;
}

}  // namespace

FrameShape ShapeAt(const CodeRules& rules, const MemoryReader& memory, const FoundCode& code,
                   uint64_t pc) {
  if (code.kind == CodeKind::kNmethod) return rules.shape_at(memory, code, pc);
  const uint64_t complete =
      code.frame_complete > 0 ? static_cast<uint64_t>(code.frame_complete) : 0;
  if (code.kind != CodeKind::kStub) return FrameShape::kUnknown;
  const bool sized = code.frame_words > 0;
  int pushed = 0, all = 0;
  if (sized && (code.frame_complete < 0 || rules.sets_up_fp(memory, code.begin, pushed, all)))
    return ShapeOfStub(rules, memory, code, pc);
  if (sized && pc >= code.begin + complete) return rules.shape_at(memory, code, pc);
  // One blob holds many stubs, each with its own entry.
  if (rules.sets_up_fp(memory, pc, pushed, all))
    return rules.has_link_register ? FrameShape::kInLink : FrameShape::kNone;
  const uint64_t push = rules.has_link_register ? 4 : 1;  // bytes
  return rules.sets_up_fp(memory, pc - push, pushed, all) && static_cast<uint64_t>(pushed) == push
             ? FrameShape::kFpPushed
             : FrameShape::kUnknown;
}

}  // namespace walkhammer::asgst
