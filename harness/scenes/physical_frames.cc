// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/physical_frames.h"

#include <algorithm>

#include "harness/guard/arch.h"

namespace walkhammer {
namespace {

// Word offsets from fp of an interpreted or entry frame; the same on x86_64 and aarch64.
constexpr int kLink = 0, kReturn = 1;

constexpr size_t kMostFrames = 40000;

class Finder {
 public:
  Finder(const ParkedScene& scene, const Jvm& jvm) : scene_(scene) {
    const VmStructs& structs = jvm.structs();
    sender_sp_ = structs.Constant("frame::interpreter_frame_sender_sp_offset").value_or(-1);
    wrapper_ = structs.Constant("frame::entry_frame_call_wrapper_offset")
                   .value_or(kOwnSlots.entry_wrapper);
    wrapper_anchor_ = structs.Offset("JavaCallWrapper", "_anchor").value_or(32);
    layout_ = jvm.layout();
    if (void* stub = structs.Static("StubRoutines", "_call_stub_return_address"))
      call_stub_return_ = *static_cast<uint64_t*>(stub);
    for (const Codelet& codelet : jvm.code_cache().Codelets()) {
      interpreter_low_ = std::min(interpreter_low_, codelet.begin);
      interpreter_high_ = std::max(interpreter_high_, codelet.end);
    }
    blobs_ = jvm.code_cache().Blobs();
    std::sort(blobs_.begin(), blobs_.end(),
              [](const CodeBlob& a, const CodeBlob& b) { return a.begin < b.begin; });
  }

  std::vector<PhysicalFrame> Find() {
    std::vector<PhysicalFrame> frames;
    Registers at = scene_.pristine;
    while (frames.size() < kMostFrames) {
      PhysicalFrame frame{};
      if (!Describe(at, frame)) break;
      frames.push_back(frame);
      if (!Sender(frame, at)) break;
    }
    return frames;
  }

 private:
  bool OnStack(uint64_t address) const {
    return address % 8 == 0 && address >= scene_.stack_low && address + 8 <= scene_.edit_high;
  }
  static uint64_t Word(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

  const CodeBlob* BlobAt(uint64_t pc) const {
    auto after = std::upper_bound(blobs_.begin(), blobs_.end(), pc,
                                  [](uint64_t p, const CodeBlob& blob) { return p < blob.begin; });
    if (after == blobs_.begin()) return nullptr;
    const CodeBlob& blob = *std::prev(after);
    return pc < blob.end ? &blob : nullptr;
  }

  bool Describe(const Registers& at, PhysicalFrame& frame) const {
    frame.pc = at.pc;
    frame.sp = at.sp;
    frame.fp = at.fp;
    const bool interpreted = at.pc >= interpreter_low_ && at.pc < interpreter_high_;
    if (interpreted || at.pc == call_stub_return_) {
      frame.kind = interpreted ? PhysicalKind::kInterpreted : PhysicalKind::kEntry;
      frame.link_slot = at.fp + 8 * kLink;
      frame.return_slot = at.fp + 8 * kReturn;
    } else {
      const CodeBlob* blob = BlobAt(at.pc);
      if (blob == nullptr || blob->frame_words <= 0) return false;
      frame.kind = blob->is_nmethod ? PhysicalKind::kCompiled : PhysicalKind::kStub;
      frame.return_slot = at.sp + 8 * static_cast<uint64_t>(blob->frame_words) - 8;
      frame.link_slot = frame.return_slot - 8;
    }
    frame.end = frame.return_slot + 8;
    if (frame.kind == PhysicalKind::kEntry) DescribeWrapper(frame);
    return OnStack(frame.link_slot) && OnStack(frame.return_slot);
  }

  void DescribeWrapper(PhysicalFrame& frame) const {
    frame.wrapper_slot = frame.fp + 8 * static_cast<uint64_t>(static_cast<int64_t>(wrapper_));
    if (!OnStack(frame.wrapper_slot)) return;
    const uint64_t anchor = Word(frame.wrapper_slot) + static_cast<uint64_t>(wrapper_anchor_);
    if (OnStack(anchor)) frame.anchor = anchor;
  }

  // Sets `at` to the caller's registers: pc' = [return_slot], fp' = [link_slot], sp' = end; those
  // of an entry frame are in its anchor. False at the oldest Java frame, and if sp' is not
  // plausible.
  bool Sender(const PhysicalFrame& frame, Registers& at) const {
    if (frame.kind == PhysicalKind::kEntry) {
      const uint64_t anchor = frame.anchor;
      if (anchor == 0) return false;
      at.sp = Word(anchor + static_cast<uint64_t>(layout_.last_sp));
      at.pc = Word(anchor + static_cast<uint64_t>(layout_.last_pc));
      at.fp = Word(anchor + static_cast<uint64_t>(layout_.last_fp));
      if (!OnStack(at.sp) || at.sp < frame.sp) return false;
      if (at.pc == 0) at.pc = Word(at.sp - 8);
      return true;
    }
    at.pc = Word(frame.return_slot);
    at.fp = Word(frame.link_slot);
    at.sp = frame.end;
    // sp' = max(end, sender_sp): on aarch64, if the caller is interpreted, too, sender_sp is below
    // the callee's frame.
    if (frame.kind == PhysicalKind::kInterpreted)
      at.sp = std::max(
          at.sp, Word(frame.fp + 8 * static_cast<uint64_t>(static_cast<int64_t>(sender_sp_))));
    return OnStack(at.sp) && at.sp > frame.sp;
  }

  const ParkedScene& scene_;
  JvmLayout layout_{};
  int sender_sp_, wrapper_, wrapper_anchor_;
  uint64_t call_stub_return_ = 0;
  uint64_t interpreter_low_ = UINT64_MAX, interpreter_high_ = 0;
  std::vector<CodeBlob> blobs_;
};

}  // namespace

std::vector<PhysicalFrame> FindPhysicalFrames(const ParkedScene& scene, const Jvm& jvm) {
  return Finder(scene, jvm).Find();
}

}  // namespace walkhammer
