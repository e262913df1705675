// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/frame_chain.h"

#include <algorithm>
#include <iterator>

namespace walkhammer {
namespace {

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

}  // namespace

int WordsOf(const FrameSample& frame) {
  return std::min<int>(frame.word_count, FrameSample::kMaxWords);
}

int32_t SlotOf(const FrameSample& frame, int word) {
  return static_cast<int32_t>(frame.sp) + frame.words[word].offset;
}

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

}  // namespace walkhammer
