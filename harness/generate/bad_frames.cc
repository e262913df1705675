// SPDX-License-Identifier: Apache-2.0
// Forged frames. Walkers trust what they reach through something valid: the anchor, an entry
// frame's JavaCallWrapper, the original pc of a deoptimised activation. So most forgeries have one
// wrong word at most.
#include <algorithm>

#include "harness/generate/frame_chain.h"
#include "harness/generate/mutations.h"
#include "harness/generate/values.h"

namespace walkhammer {
namespace {

bool ForgeSampled(RequestBuilder& builder, SampleShape shape) {
  Chain chain(builder);
  if (!MakeSampled(builder, shape, chain.Next())) return false;
  chain.Keep();
  return chain.Forge();
}

}  // namespace

// Replaces a frame's sender by another frame or by made-up values.
bool RedirectLink(RequestBuilder& builder) {
  if (builder.Frames().empty()) return false;
  const FrameSample& frame = builder.NearFrame();
  const int words = WordsOf(frame);
  if (words < 2) return false;
  const Triple sender = builder.AnyTriple();
  if (frame.shape == SampleShape::kEntry && words >= kEntryWords) {
    if (builder.Chance(30)) {
      builder.Set(SlotOf(frame, kWrapper),
                  builder.Chance(60) ? builder.StackValue() : builder.AnyValue());
      return true;
    }
    builder.Set(SlotOf(frame, kAnchorSp), sender.sp);
    builder.Set(SlotOf(frame, kAnchorSp + 1), sender.pc);
    builder.Set(SlotOf(frame, kAnchorSp + 2), sender.fp);
    return true;
  }
  const uint32_t which = 1 + builder.Below(7);
  if ((which & 1) != 0) builder.Set(SlotOf(frame, kLink), sender.fp);
  if ((which & 2) != 0) builder.Set(SlotOf(frame, kReturn), sender.pc);
  if ((which & 4) != 0 && frame.shape == SampleShape::kInterpreted && words > kSenderSp)
    builder.Set(SlotOf(frame, kSenderSp), sender.sp);
  return true;
}

// Starts the walk in the middle of the stack: at a frame, or some instructions or words beside it.
bool EnterAtFrame(RequestBuilder& builder) {
  if (builder.Frames().empty()) return false;
  Triple triple = RequestBuilder::TripleOf(builder.NearFrame());
  const Place* place = builder.words().PlaceOf(triple.pc.symbol);
  switch (builder.Below(6)) {
    case 0:
      if (place != nullptr) triple.pc = builder.At(*place, builder.words().OffsetsOf(*place));
      break;
    case 1:
      triple.pc = Moved(triple.pc, static_cast<int64_t>(builder.Below(65)) - 32);
      break;
    case 2:
      triple.sp = Moved(triple.sp, builder.Distance());
      break;
    case 3:
      triple.fp = Moved(triple.fp, builder.Distance());
      break;
    case 4:
      triple.fp = builder.StackValue();
      break;
    default:
      break;
  }
  WalkRequest& request = builder.request();
  request.pc = triple.pc;
  request.sp = triple.sp;
  request.fp = triple.fp;
  request.anchor = AnchorMode::kCleared;
  request.state = kStateInJava;
  return true;
}

bool SpliceFrame(RequestBuilder& builder) {
  constexpr SampleShape kShapes[] = {SampleShape::kInterpreted, SampleShape::kInterpreted,
                                     SampleShape::kCompiled, SampleShape::kStub,
                                     SampleShape::kEntry};
  return ForgeSampled(builder, builder.OneOf(std::span<const SampleShape>(kShapes)));
}

bool ForgeChain(RequestBuilder& builder) {
  Chain chain(builder);
  const uint32_t wanted = 2 + builder.Below(kMostPieces - 1);
  for (uint32_t tries = 0; tries < wanted + 2 && !chain.IsFull(); tries++)
    if (MakeAny(builder, chain.Next())) chain.Keep();
  if (!chain.Fits()) return false;
  // Clear a long list: the chain would push out a part of it and leave the rest.
  if (builder.request().edit_count > WalkRequest::kUsualEdits / 2) {
    std::fill(builder.request().edits, builder.request().edits + builder.request().edit_count,
              Edit{});
    builder.request().edit_count = 0;
  }
  return chain.Forge();
}

bool ForgeInterpreted(RequestBuilder& builder) {
  return ForgeSampled(builder, SampleShape::kInterpreted);
}

bool ForgeEntry(RequestBuilder& builder) { return ForgeSampled(builder, SampleShape::kEntry); }

bool ForgeCompiled(RequestBuilder& builder) {
  Chain chain(builder);
  if (!MakeFromPlace(builder, builder.Chance(75) ? SymbolKind::kNmethod : SymbolKind::kStub,
                     chain.Next()))
    return false;
  // Also in prologues and epilogues, where the frame does not have the code's frame size.
  Piece& piece = chain.Next();
  if (builder.Chance(30))
    piece.pc = builder.At(*piece.place, builder.words().OffsetsOf(*piece.place));
  chain.Keep();
  return chain.Forge();
}

// Forges a deoptimised activation: pc is the deoptimisation handler, the original pc is in a slot.
bool ForgeDeoptimized(RequestBuilder& builder) {
  Chain chain(builder);
  Piece& piece = chain.Next();
  if (!MakeFromPlace(builder, SymbolKind::kNmethod, piece) || piece.place->deopt_handler == 0)
    return false;
  piece.pc = {piece.place->deopt_handler, piece.place->symbol, 0};
  chain.Keep();
  return chain.Forge();
}

// Points an interpreted frame's Method* into the stack and fills in the Method's first words.
bool ForgeMethod(RequestBuilder& builder) {
  bool own = false;
  const FrameSample* frame = AnySample(builder, SampleShape::kInterpreted, &own);
  if (frame == nullptr || !own || WordsOf(*frame) <= kMethod) return false;
  const int32_t method = builder.AnySlot();
  builder.Set(SlotOf(*frame, kMethod), OnStack(method));
  // The first words: vtable, ConstMethod*, MethodData*, ...
  const uint32_t words = 1 + builder.Below(3);
  for (uint32_t i = 0; i < words; i++) {
    const auto at = static_cast<int32_t>(method + 8 * static_cast<int32_t>(i));
    if (at >= builder.StackBytes()) break;
    builder.Set(at, builder.Chance(50) ? builder.MethodValue() : builder.AnyValue());
  }
  return true;
}

bool ForgeAnchor(RequestBuilder& builder) {
  constexpr uint8_t kStates[] = {kStateInNative, kStateInVm, kStateBlocked, kStateInJava};
  const Triple triple = builder.AnyTriple();
  WalkRequest& request = builder.request();
  request.anchor = AnchorMode::kCustom;
  request.anchor_sp = triple.sp;
  request.anchor_pc = triple.pc;
  request.anchor_fp = triple.fp;
  request.state = builder.OneOf(std::span<const uint8_t>(kStates));
  return true;
}

}  // namespace walkhammer
