// SPDX-License-Identifier: Apache-2.0
// Forged frames. Walkers trust what they reach through something valid: the anchor, an entry
// frame's JavaCallWrapper, the original pc of a deoptimised activation. So most forgeries have one
// wrong word at most.
#include <algorithm>
#include <cstdint>
#include <iterator>

#include "harness/generate/mutations.h"
#include "harness/generate/request_builder.h"
#include "harness/generate/values.h"

namespace walkhammer {
namespace {

// Indices into FrameSample::words.
constexpr int kReturn = 0, kLink = 1;
constexpr int kSenderSp = 2, kMethod = 4, kCache = 7, kBcp = 9;  // interpreted frames
constexpr int kWrapper = 2, kAnchorSp = 3, kEntryWords = 6;      // entry frames

constexpr int kMostPieces = 4;

// A frame to be written: a copy of `sample`, or a frame of the code at `place`. The other is null.
struct Piece {
  const FrameSample* sample = nullptr;
  const Place* place = nullptr;
  bool own = false;  // `sample` is from the request's scene
  Value pc;
  int32_t size = 0;                 // bytes, including an entry frame's JavaCallWrapper
  int32_t fp = FrameSample::kNoFp;  // bytes above the frame's sp

  Triple At(int32_t sp) const {
    return {pc, OnStack(sp), fp == FrameSample::kNoFp ? OnStack(sp + size) : OnStack(sp + fp)};
  }
};

int WordsOf(const FrameSample& frame) {
  return std::min<int>(frame.word_count, FrameSample::kMaxWords);
}

// Slot of a frame's word on the stack of the frame's own scene, bytes above stack+0.
int32_t SlotOf(const FrameSample& frame, int word) {
  return static_cast<int32_t>(frame.sp) + frame.words[word].offset;
}

// Offset of a field of an entry frame's anchor from the JavaCallWrapper, in bytes. `field`: 0 sp,
// 1 pc, 2 fp.
int32_t AnchorField(const FrameSample& entry, int field) {
  return entry.words[kAnchorSp + field].offset -
         static_cast<int32_t>(entry.words[kWrapper].value.addend);
}

bool IsWholeEntry(const FrameSample& frame) {
  if (WordsOf(frame) < kEntryWords ||
      frame.words[kWrapper].value.symbol != SymbolTable::IdOf(SymbolKind::kStack))
    return false;
  for (int field = 0; field < 3; field++)
    if (AnchorField(frame, field) < 0 || AnchorField(frame, field) > 256) return false;
  return true;
}

// A random frame of `shape`: of the request's scene (then *own is true) if one is found there, else
// of a random scene. Null if none is found.
const FrameSample* AnySample(RequestBuilder& builder, SampleShape shape, bool* own) {
  for (int tries = 0; tries < 6; tries++) {
    const uint8_t scene = tries < 2 ? builder.request().scene : builder.AnyScene();
    *own = scene == builder.request().scene;
    const auto frames = builder.words().scenes[scene % Vocabulary::kScenes].Frames();
    const auto count = static_cast<uint32_t>(frames.size());
    const uint32_t start = builder.Below(count);
    for (uint32_t i = 0; i < count; i++) {
      const FrameSample& frame = frames[(start + i) % count];
      if (frame.shape == shape && WordsOf(frame) >= 2) return &frame;
    }
  }
  return nullptr;
}

// Fills `piece` in with a random frame that fits the stack, as the next two do. False if none is
// found.
bool MakeSampled(RequestBuilder& builder, SampleShape shape, Piece& piece) {
  piece = {};
  piece.sample = AnySample(builder, shape, &piece.own);
  if (piece.sample == nullptr) return false;
  const FrameSample& sample = *piece.sample;
  piece.pc = sample.pc;
  piece.size = static_cast<int32_t>(sample.size);
  if (sample.fp >= 0 && sample.fp < piece.size) piece.fp = sample.fp;
  if (shape == SampleShape::kEntry) {
    if (!IsWholeEntry(sample)) return false;
    // The JavaCallWrapper is right above the frame.
    int32_t top = 0;
    for (int field = 0; field < 3; field++) top = std::max(top, AnchorField(sample, field) + 8);
    piece.size += (top + 15) & ~15;
  }
  return piece.size >= 16 && piece.size <= builder.StackBytes();
}

bool MakeFromPlace(RequestBuilder& builder, SymbolKind kind, Piece& piece) {
  piece = {};
  for (int tries = 0; tries < 4; tries++) {
    const Place* place = builder.AnyPlace(kind);
    if (place == nullptr) return false;
    if (place->frame_words < 2 || place->frame_words > 128) continue;
    piece.place = place;
    piece.size = static_cast<int32_t>(8 * place->frame_words);
    piece.pc = builder.At(*place, builder.words().ReturnsOf(*place));
    return piece.size <= builder.StackBytes();
  }
  return false;
}

bool MakeAny(RequestBuilder& builder, Piece& piece) {
  switch (builder.Below(8)) {
    case 0:
    case 1:
    case 2:
      return MakeSampled(builder, SampleShape::kInterpreted, piece);
    case 3:
    case 4:
      return MakeFromPlace(builder, SymbolKind::kNmethod, piece);
    case 5:
      return MakeFromPlace(builder, SymbolKind::kStub, piece);
    default:
      return MakeSampled(builder, SampleShape::kEntry, piece);
  }
}

// A stack of forged frames that a walker takes for frames of the scene.
class Chain {
 public:
  explicit Chain(RequestBuilder& builder) : builder_(builder) {}

  // The piece to fill in next; Keep adds it to the chain, above the pieces before it.
  Piece& Next() { return pieces_[count_]; }
  void Keep() { count_++; }
  bool IsFull() const { return count_ == kMostPieces; }
  // True if the chain has a piece and the scene's stack has room for all its pieces.
  bool Fits() const { return count_ > 0 && TotalSize() <= builder_.StackBytes(); }

  // Writes the chain onto the stack, makes the walk reach it, and in half of the cases makes one
  // word wrong. False, and the request is unchanged, unless the chain Fits.
  bool Forge();

 private:
  int32_t TotalSize() const;  // bytes of all pieces
  // Writes the pieces below a frame of the scene, which becomes the oldest piece's sender:
  // start_ + total size = frame.sp. If no frame fits, place and sender are random; at times the
  // sender alone is. The chain must fit.
  void Lay();
  void LayPiece(const Piece& piece, int32_t sp, const Triple& next);
  // The value of the sample's word number `word` in a copy at `sp`.
  Value Relocated(const Piece& piece, int word, int32_t sp);
  void Write(int32_t slot, const Value& value);
  // Makes the walk reach the newest piece: by the registers, the anchor or Link.
  void Enter();
  // Makes `top` the sender of a scene frame below the chain. False if there is no such frame.
  bool Link(const Triple& top);
  // Makes one of the written words wrong.
  void Bend();

  RequestBuilder& builder_;
  Piece pieces_[kMostPieces];
  int count_ = 0;
  int32_t start_ = 0;  // bytes above stack+0
  int32_t slots_[WalkRequest::kUsualEdits];
  int written_ = 0;
};

int32_t Chain::TotalSize() const {
  int32_t total = 0;
  for (int i = 0; i < count_; i++) total += pieces_[i].size;
  return total;
}

void Chain::Lay() {
  const int32_t total = TotalSize();
  Triple next{};
  bool joined = false;
  for (int tries = 0; tries < 4 && !joined && !builder_.Frames().empty(); tries++) {
    const FrameSample& frame = builder_.NearFrame();
    const int64_t start = int64_t{frame.sp} - total;
    if (start < 0 || frame.sp > static_cast<uint32_t>(builder_.StackBytes())) continue;
    joined = true;
    start_ = static_cast<int32_t>(start);
    next = RequestBuilder::TripleOf(frame);
  }
  if (!joined)
    start_ = static_cast<int32_t>(
        16 * builder_.Below(static_cast<uint32_t>((builder_.StackBytes() - total) / 16 + 1)));
  if (!joined || builder_.Chance(25)) next = builder_.AnyTriple();
  int32_t sp = start_ + total;
  for (int i = count_ - 1; i >= 0; i--) {
    sp -= pieces_[i].size;
    LayPiece(pieces_[i], sp, next);
    next = pieces_[i].At(sp);
  }
}

void Chain::LayPiece(const Piece& piece, int32_t sp, const Triple& next) {
  if (piece.place != nullptr) {
    Write(sp + piece.size - 8, next.pc);
    Write(sp + piece.size - 16, next.fp);
    if (piece.place->deopt_handler != 0 && piece.pc.addend == piece.place->deopt_handler)
      Write(sp + static_cast<int32_t>(piece.place->original_pc),
            builder_.Chance(60)
                ? builder_.At(*piece.place, builder_.words().ReturnsOf(*piece.place))
                : builder_.CodeValue());
    return;
  }
  const FrameSample& sample = *piece.sample;
  const int words = WordsOf(sample);
  for (int i = 0; i < words; i++) {
    const int32_t slot = sp + sample.words[i].offset;
    Value value = Relocated(piece, i, sp);
    if (i == kReturn) value = next.pc;
    if (i == kLink) value = next.fp;
    if (sample.shape == SampleShape::kInterpreted) {
      if (i == kSenderSp) value = next.sp;
      // Walkers do not need mirror, method data and initial sp: these slots stay as they are.
      if (i == 5 || i == 6 || i > kBcp) continue;
    }
    if (sample.shape == SampleShape::kEntry && i >= kWrapper) break;
    Write(slot, value);
  }
  if (sample.shape != SampleShape::kEntry) return;
  const auto wrapper = static_cast<int32_t>(sp + static_cast<int32_t>(sample.size));
  Write(sp + sample.words[kWrapper].offset, OnStack(wrapper));
  const Value fields[] = {next.sp, next.pc, next.fp};
  for (int field = 0; field < 3; field++)
    Write(wrapper + AnchorField(sample, field), fields[field]);
}

Value Chain::Relocated(const Piece& piece, int word, int32_t sp) {
  const FrameSample& sample = *piece.sample;
  Value value = sample.words[word].value;
  if (value.symbol == SymbolTable::IdOf(SymbolKind::kStack)) value.addend += sp;
  if (value.symbol != SymbolTable::IdOf(SymbolKind::kSlot) || piece.own) return value;
  // The content of another scene's slot is unknown. For the cache, which is in metaspace, the
  // Method* stands in.
  if (sample.shape == SampleShape::kInterpreted && word == kCache && WordsOf(sample) > kMethod)
    return sample.words[kMethod].value;
  return builder_.ValueFor(SlotOf(sample, word));
}

void Chain::Write(int32_t slot, const Value& value) {
  builder_.Set(slot, value);
  if (written_ < static_cast<int>(std::size(slots_))) slots_[written_++] = slot;
}

void Chain::Enter() {
  const Triple top = pieces_[0].At(start_);
  WalkRequest& request = builder_.request();
  const uint32_t what = builder_.Below(20);
  if (what < 6) {
    request.pc = top.pc;
    request.sp = top.sp;
    request.fp = top.fp;
    request.anchor = AnchorMode::kCleared;
    request.state = kStateInJava;
  } else if (what < 12 || !Link(top)) {
    constexpr uint8_t kStates[] = {kStateInNative, kStateInVm, kStateBlocked, kStateInJava};
    request.anchor = AnchorMode::kCustom;
    request.anchor_sp = top.sp;
    request.anchor_pc = builder_.Chance(85) ? top.pc : Number(0);
    request.anchor_fp = top.fp;
    request.state = builder_.OneOf(std::span<const uint8_t>(kStates));
  }
}

bool Chain::Link(const Triple& top) {
  for (int tries = 0; tries < 4 && !builder_.Frames().empty(); tries++) {
    const FrameSample& frame = builder_.NearFrame();
    const int words = WordsOf(frame);
    if (words < 2 || int64_t{frame.sp} + frame.size > start_) continue;
    if (frame.shape == SampleShape::kEntry) {
      if (words < kEntryWords) continue;
      builder_.Set(SlotOf(frame, kAnchorSp), top.sp);
      builder_.Set(SlotOf(frame, kAnchorSp + 1), top.pc);
      builder_.Set(SlotOf(frame, kAnchorSp + 2), top.fp);
      return true;
    }
    builder_.Set(SlotOf(frame, kReturn), top.pc);
    builder_.Set(SlotOf(frame, kLink), top.fp);
    if (frame.shape == SampleShape::kInterpreted && words > kSenderSp)
      builder_.Set(SlotOf(frame, kSenderSp), top.sp);
    return true;
  }
  return false;
}

void Chain::Bend() {
  if (written_ == 0) return;
  const int32_t slot = slots_[builder_.Below(static_cast<uint32_t>(written_))];
  switch (builder_.Below(5)) {
    case 0:
      return builder_.Set(slot, builder_.EdgeValue());
    case 1:
      return builder_.Set(slot, builder_.StackValue());
    case 2:
      return builder_.Set(slot, builder_.LiteralValue());
    case 3:
      return builder_.Set(slot, builder_.ValueFor(slot));
    default:
      for (Edit& edit : builder_.Edits())
        if (edit.slot == slot) edit.value = Moved(edit.value, builder_.Chance(50) ? 8 : -8);
  }
}

bool Chain::Forge() {
  if (!Fits()) return false;
  Lay();
  Enter();
  if (builder_.Chance(50)) Bend();
  return true;
}

bool ForgeSampled(RequestBuilder& builder, SampleShape shape) {
  Chain chain(builder);
  if (!MakeSampled(builder, shape, chain.Next())) return false;
  chain.Keep();
  return chain.Forge();
}

}  // namespace

// Replaces a frame's sender by another frame or by synthetic values.
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
