// SPDX-License-Identifier: Apache-2.0
// Forged frames. Walkers trust what they reach through something valid: the anchor, an entry
// frame's JavaCallWrapper, the original pc of a deoptimised activation. So most forgeries have one
// wrong word at most.
#include <algorithm>

#include "harness/generate/chain.h"
#include "harness/generate/mutations.h"
#include "harness/generate/values.h"

namespace walkhammer {
namespace {

bool ForgeSampled(Draft& draft, SampleShape shape) {
  Chain chain(draft);
  if (!MakeSampled(draft, shape, chain.Next())) return false;
  chain.Keep();
  return chain.Forge();
}

}  // namespace

// Replaces a frame's sender by another frame or by made-up values.
bool RedirectLink(Draft& draft) {
  if (draft.Frames().empty()) return false;
  const FrameSample& frame = draft.NearFrame();
  const int words = WordsOf(frame);
  if (words < 2) return false;
  const Triple sender = draft.AnyTriple();
  if (frame.shape == SampleShape::kEntry && words >= kEntryWords) {
    if (draft.Chance(30)) {
      draft.Set(SlotOf(frame, kWrapper), draft.Chance(60) ? draft.StackValue() : draft.AnyValue());
      return true;
    }
    draft.Set(SlotOf(frame, kAnchorSp), sender.sp);
    draft.Set(SlotOf(frame, kAnchorSp + 1), sender.pc);
    draft.Set(SlotOf(frame, kAnchorSp + 2), sender.fp);
    return true;
  }
  const uint32_t which = 1 + draft.Below(7);
  if ((which & 1) != 0) draft.Set(SlotOf(frame, kLink), sender.fp);
  if ((which & 2) != 0) draft.Set(SlotOf(frame, kReturn), sender.pc);
  if ((which & 4) != 0 && frame.shape == SampleShape::kInterpreted && words > kSenderSp)
    draft.Set(SlotOf(frame, kSenderSp), sender.sp);
  return true;
}

// Starts the walk in the middle of the stack: at a frame, or some instructions or words beside it.
bool EnterAtFrame(Draft& draft) {
  if (draft.Frames().empty()) return false;
  Triple triple = Draft::TripleOf(draft.NearFrame());
  const Place* place = draft.words().PlaceOf(triple.pc.symbol);
  switch (draft.Below(6)) {
    case 0:
      if (place != nullptr) triple.pc = draft.At(*place, draft.words().OffsetsOf(*place));
      break;
    case 1:
      triple.pc = Moved(triple.pc, static_cast<int64_t>(draft.Below(65)) - 32);
      break;
    case 2:
      triple.sp = Moved(triple.sp, draft.Distance());
      break;
    case 3:
      triple.fp = Moved(triple.fp, draft.Distance());
      break;
    case 4:
      triple.fp = draft.StackValue();
      break;
    default:
      break;
  }
  WalkRequest& request = draft.request();
  request.pc = triple.pc;
  request.sp = triple.sp;
  request.fp = triple.fp;
  request.anchor = AnchorMode::kCleared;
  request.state = kStateInJava;
  return true;
}

bool SpliceFrame(Draft& draft) {
  constexpr SampleShape kShapes[] = {SampleShape::kInterpreted, SampleShape::kInterpreted,
                                     SampleShape::kCompiled, SampleShape::kStub,
                                     SampleShape::kEntry};
  return ForgeSampled(draft, draft.OneOf(std::span<const SampleShape>(kShapes)));
}

bool ForgeChain(Draft& draft) {
  Chain chain(draft);
  const uint32_t wanted = 2 + draft.Below(kMostPieces - 1);
  for (uint32_t tries = 0; tries < wanted + 2 && !chain.IsFull(); tries++)
    if (MakeAny(draft, chain.Next())) chain.Keep();
  if (!chain.Fits()) return false;
  // Clear a long list: the chain would push out a part of it and leave the rest.
  if (draft.request().edit_count > WalkRequest::kUsualEdits / 2) {
    std::fill(draft.request().edits, draft.request().edits + draft.request().edit_count, Edit{});
    draft.request().edit_count = 0;
  }
  return chain.Forge();
}

bool ForgeInterpreted(Draft& draft) { return ForgeSampled(draft, SampleShape::kInterpreted); }

bool ForgeEntry(Draft& draft) { return ForgeSampled(draft, SampleShape::kEntry); }

bool ForgeCompiled(Draft& draft) {
  Chain chain(draft);
  if (!MakeFromPlace(draft, draft.Chance(75) ? SymbolKind::kNmethod : SymbolKind::kStub,
                     chain.Next()))
    return false;
  // Also in prologues and epilogues, where the frame does not have the code's frame size.
  Piece& piece = chain.Next();
  if (draft.Chance(30)) piece.pc = draft.At(*piece.place, draft.words().OffsetsOf(*piece.place));
  chain.Keep();
  return chain.Forge();
}

// Forges a deoptimised activation: pc is the deoptimisation handler, the original pc is in a slot.
bool ForgeDeoptimized(Draft& draft) {
  Chain chain(draft);
  Piece& piece = chain.Next();
  if (!MakeFromPlace(draft, SymbolKind::kNmethod, piece) || piece.place->deopt_handler == 0)
    return false;
  piece.pc = {piece.place->deopt_handler, piece.place->symbol, 0};
  chain.Keep();
  return chain.Forge();
}

// Points an interpreted frame's Method* into the stack and fills in the Method's first words.
bool ForgeMethod(Draft& draft) {
  bool own = false;
  const FrameSample* frame = AnySample(draft, SampleShape::kInterpreted, &own);
  if (frame == nullptr || !own || WordsOf(*frame) <= kMethod) return false;
  const int32_t method = draft.AnySlot();
  draft.Set(SlotOf(*frame, kMethod), OnStack(method));
  // The first words: vtable, ConstMethod*, MethodData*, ...
  const uint32_t words = 1 + draft.Below(3);
  for (uint32_t i = 0; i < words; i++) {
    const auto at = static_cast<int32_t>(method + 8 * static_cast<int32_t>(i));
    if (at >= draft.StackBytes()) break;
    draft.Set(at, draft.Chance(50) ? draft.MethodValue() : draft.AnyValue());
  }
  return true;
}

bool ForgeAnchor(Draft& draft) {
  constexpr uint8_t kStates[] = {kStateInNative, kStateInVm, kStateBlocked, kStateInJava};
  const Triple triple = draft.AnyTriple();
  WalkRequest& request = draft.request();
  request.anchor = AnchorMode::kCustom;
  request.anchor_sp = triple.sp;
  request.anchor_pc = triple.pc;
  request.anchor_fp = triple.fp;
  request.state = draft.OneOf(std::span<const uint8_t>(kStates));
  return true;
}

}  // namespace walkhammer
