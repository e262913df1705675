#include "harness/reference/prologue.h"

namespace walkhammer {

FrameShape ShapeAt(const CodeRules& rules, const MemoryReader& memory, const FoundCode& code,
                   uint64_t pc) {
  if (code.kind == CodeKind::kNmethod) return rules.shape_at(memory, code, pc);
  const uint64_t complete =
      code.frame_complete > 0 ? static_cast<uint64_t>(code.frame_complete) : 0;
  const bool whole =
      code.kind == CodeKind::kStub && code.frame_words > 0 && pc >= code.begin + complete;
  return whole ? FrameShape::kWhole : FrameShape::kUnknown;
}

}  // namespace walkhammer
