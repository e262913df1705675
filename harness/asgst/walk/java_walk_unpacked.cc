// SPDX-License-Identifier: Apache-2.0
// Frames that deoptimisation is just laying out. Deoptimization::fetch_unroll_info puts the frames
// of a compiled activation, and its caller, into a vframeArray outside the stack. From then on
// until Deoptimization::unpack_frames ends, this array is all that is certain: the compiled frame
// is removed, and the words that replace it are only gradually those of interpreted frames.
#include <algorithm>

#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

// Begins at the frames of the vframeArray at `array`, and goes on with the caller that it holds.
// `status`: of the begin without it, which may have found C frames, or the stub that lays the
// frames out. False if the array does not make sense.
bool JavaWalk::BeginUnpacked(uint64_t array, WalkStatus status) {
  const UnpackedLayout& l = layout_.unpacked;
  const Registers& r = start_->registers;
  const bool is_found = status == WalkStatus::kFound && has_java_;
  const Physical found = at_;
  Registers caller{};
  uint64_t entered = 0;
  if (!start_->unpacked || l.elements <= 0 || !memory_.Read(array + l.count, unpacked_count_) ||
      unpacked_count_ <= 0 || unpacked_count_ > kMostInlined ||
      !memory_.ReadWord(array + l.caller_sp, caller.sp) ||
      !memory_.ReadWord(array + l.caller_pc, caller.pc) ||
      !memory_.ReadWord(array + l.caller_fp, caller.fp))
    return false;
  caller.pc &= layout_.rules->address_mask;
  unpacked_ = array;
  JavaFrame frame;
  for (int32_t i = 0; i < unpacked_count_; i++)
    if (!Unpacked(i, frame)) return false;
  low_ =
      r.sp >= start_->stack_floor && r.sp < start_->stack_high ? r.sp & ~7ULL : start_->stack_floor;
  if (!InStack(caller.sp) || !InCode(caller.pc)) return false;
  const bool is_stub = is_found && CodeAt(found.pc).kind == CodeKind::kStub;
  if (start_->non_java && (is_stub || InCode(r.pc)))
    stub_on_top_ = InCode(r.pc) ? r : Registers{found.pc, found.sp, found.fp, 0};
  ended_ = guessed_ = broken_ = false;
  has_java_ = true;
  unpacked_left_ = unpacked_count_;
  first_pc_ = 0;
  MoveTo(caller.pc, caller.sp, caller.fp);
  // Behind enterSpecial's frame there may be others in the heap.
  if (layout_.cont_return_at != 0 && memory_.ReadWord(layout_.cont_return_at, entered) &&
      entered == caller.pc)
    ToContinuationEntry(start_->stack_high);
  return true;
}

// Reads frame `index`, newest first, of the vframeArray. False if it does not make sense, or the
// thread, which is not the current one then, has other frames to lay out by now.
bool JavaWalk::Unpacked(int32_t index, JavaFrame& frame) const {
  const UnpackedLayout& l = layout_.unpacked;
  const uint64_t element = unpacked_ + static_cast<uint64_t>(l.elements) +
                           static_cast<uint64_t>(index) * static_cast<uint64_t>(l.element_size);
  uint64_t method = 0, now = 0;
  int32_t bci = 0;
  if (!memory_.ReadWord(element + l.method, method) || !memory_.Read(element + l.bci, bci) ||
      !ThreadField(layout_.unpacked_frames, now) || now != unpacked_ ||
      !MethodAt(method, frame.facts) || frame.facts.is_native || bci >= frame.facts.code_size)
    return false;
  SetFrame(frame, method, 0, std::max(bci, 0), 0);  // below 0: the method is about to lock
  frame.pc = frame.sp = frame.fp = 0;
  frame.frozen = false;
  return true;
}

bool JavaWalk::EmitUnpacked(JavaFrame& frame) {
  if (Unpacked(unpacked_count_ - unpacked_left_, frame)) {
    unpacked_left_--;
    return true;
  }
  unpacked_left_ = 0;
  return End(WalkEnd::kDeopt);
}

}  // namespace walkhammer::asgst
