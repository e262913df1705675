// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/chain.h"

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

const FrameSample* AnySample(Draft& draft, SampleShape shape, bool* own) {
  for (int tries = 0; tries < 6; tries++) {
    const uint8_t scene = tries < 2 ? draft.request().scene : draft.AnyScene();
    *own = scene == draft.request().scene;
    const auto frames = draft.words().scenes[scene % Vocabulary::kScenes].Frames();
    const auto count = static_cast<uint32_t>(frames.size());
    const uint32_t start = draft.Below(count);
    for (uint32_t i = 0; i < count; i++) {
      const FrameSample& frame = frames[(start + i) % count];
      if (frame.shape == shape && WordsOf(frame) >= 2) return &frame;
    }
  }
  return nullptr;
}

bool MakeSampled(Draft& draft, SampleShape shape, Piece& piece) {
  piece = {};
  piece.sample = AnySample(draft, shape, &piece.own);
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
  return piece.size >= 16 && piece.size <= draft.StackBytes();
}

bool MakeFromPlace(Draft& draft, SymbolKind kind, Piece& piece) {
  piece = {};
  for (int tries = 0; tries < 4; tries++) {
    const Place* place = draft.AnyPlace(kind);
    if (place == nullptr) return false;
    if (place->frame_words < 2 || place->frame_words > 128) continue;
    piece.place = place;
    piece.size = static_cast<int32_t>(8 * place->frame_words);
    piece.pc = draft.At(*place, draft.words().ReturnsOf(*place));
    return piece.size <= draft.StackBytes();
  }
  return false;
}

bool MakeAny(Draft& draft, Piece& piece) {
  switch (draft.Below(8)) {
    case 0:
    case 1:
    case 2:
      return MakeSampled(draft, SampleShape::kInterpreted, piece);
    case 3:
    case 4:
      return MakeFromPlace(draft, SymbolKind::kNmethod, piece);
    case 5:
      return MakeFromPlace(draft, SymbolKind::kStub, piece);
    default:
      return MakeSampled(draft, SampleShape::kEntry, piece);
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
  for (int tries = 0; tries < 4 && !joined && !draft_.Frames().empty(); tries++) {
    const FrameSample& frame = draft_.NearFrame();
    const int64_t start = int64_t{frame.sp} - total;
    if (start < 0 || frame.sp > static_cast<uint32_t>(draft_.StackBytes())) continue;
    joined = true;
    start_ = static_cast<int32_t>(start);
    next = Draft::TripleOf(frame);
  }
  if (!joined)
    start_ = static_cast<int32_t>(
        16 * draft_.Below(static_cast<uint32_t>((draft_.StackBytes() - total) / 16 + 1)));
  if (!joined || draft_.Chance(25)) next = draft_.AnyTriple();
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
            draft_.Chance(60) ? draft_.At(*piece.place, draft_.words().ReturnsOf(*piece.place))
                              : draft_.CodeValue());
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
  return draft_.ValueFor(SlotOf(sample, word));
}

void Chain::Write(int32_t slot, const Value& value) {
  draft_.Set(slot, value);
  if (written_ < static_cast<int>(std::size(slots_))) slots_[written_++] = slot;
}

void Chain::Enter() {
  const Triple top = pieces_[0].At(start_);
  WalkRequest& request = draft_.request();
  const uint32_t what = draft_.Below(20);
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
    request.anchor_pc = draft_.Chance(85) ? top.pc : Number(0);
    request.anchor_fp = top.fp;
    request.state = draft_.OneOf(std::span<const uint8_t>(kStates));
  }
}

bool Chain::Link(const Triple& top) {
  for (int tries = 0; tries < 4 && !draft_.Frames().empty(); tries++) {
    const FrameSample& frame = draft_.NearFrame();
    const int words = WordsOf(frame);
    if (words < 2 || int64_t{frame.sp} + frame.size > start_) continue;
    if (frame.shape == SampleShape::kEntry) {
      if (words < kEntryWords) continue;
      draft_.Set(SlotOf(frame, kAnchorSp), top.sp);
      draft_.Set(SlotOf(frame, kAnchorSp + 1), top.pc);
      draft_.Set(SlotOf(frame, kAnchorSp + 2), top.fp);
      return true;
    }
    draft_.Set(SlotOf(frame, kReturn), top.pc);
    draft_.Set(SlotOf(frame, kLink), top.fp);
    if (frame.shape == SampleShape::kInterpreted && words > kSenderSp)
      draft_.Set(SlotOf(frame, kSenderSp), top.sp);
    return true;
  }
  return false;
}

void Chain::Bend() {
  if (written_ == 0) return;
  const int32_t slot = slots_[draft_.Below(static_cast<uint32_t>(written_))];
  switch (draft_.Below(5)) {
    case 0:
      return draft_.Set(slot, draft_.EdgeValue());
    case 1:
      return draft_.Set(slot, draft_.StackValue());
    case 2:
      return draft_.Set(slot, draft_.LiteralValue());
    case 3:
      return draft_.Set(slot, draft_.ValueFor(slot));
    default:
      for (Edit& edit : draft_.Edits())
        if (edit.slot == slot) edit.value = Moved(edit.value, draft_.Chance(50) ? 8 : -8);
  }
}

bool Chain::Forge() {
  if (!Fits()) return false;
  Lay();
  Enter();
  if (draft_.Chance(50)) Bend();
  return true;
}

}  // namespace walkhammer
