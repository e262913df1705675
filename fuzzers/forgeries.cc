// Forged frames. Walkers trust what they reached through something valid: the anchor, an entry
// frame's JavaCallWrapper, the original pc of a deoptimised activation. So most forgeries are right
// in all but one word.
#include <algorithm>
#include <iterator>

#include "fuzzers/mutations.h"

namespace walkhammer {
namespace {

// Indices into FrameSample::words; see make_vocabulary.cc.
constexpr int kReturn = 0, kLink = 1;
constexpr int kSenderSp = 2, kMethod = 4, kCache = 7, kBcp = 9;  // interpreted frames
constexpr int kWrapper = 2, kAnchorSp = 3, kEntryWords = 6;      // entry frames

constexpr int kMostPieces = 4;

// A frame that is about to be laid: like `sample`, or like any of the code at `place`.
struct Piece {
  const FrameSample* sample = nullptr;
  const Place* place = nullptr;
  bool own = false;  // the sample is of the request's scene
  Value pc;
  int32_t size = 0;                 // bytes, with the wrapper of an entry frame
  int32_t fp = FrameSample::kNoFp;  // bytes above its sp

  Triple At(int32_t sp) const {
    return {pc, OnStack(sp), fp == FrameSample::kNoFp ? OnStack(sp + size) : OnStack(sp + fp)};
  }
};

int WordsOf(const FrameSample& frame) {
  return std::min<int>(frame.word_count, FrameSample::kMaxWords);
}

int32_t SlotOf(const FrameSample& frame, int word) {
  return static_cast<int32_t>(frame.sp) + frame.words[word].offset;
}

// A frame of that shape, of this scene if it has one, else of one that is found at random.
const FrameSample* AnySample(Draft& draft, FrameShape shape, bool* own) {
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

// Where the fields of an entry frame's anchor lie, from the wrapper's address.
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

bool MakeSampled(Draft& draft, FrameShape shape, Piece& piece) {
  piece = {};
  piece.sample = AnySample(draft, shape, &piece.own);
  if (piece.sample == nullptr) return false;
  const FrameSample& sample = *piece.sample;
  piece.pc = sample.pc;
  piece.size = static_cast<int32_t>(sample.size);
  if (sample.fp >= 0 && sample.fp < piece.size) piece.fp = sample.fp;
  if (shape == FrameShape::kEntry) {
    if (!IsWholeEntry(sample)) return false;
    // Its wrapper stands right above it.
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
      return MakeSampled(draft, FrameShape::kInterpreted, piece);
    case 3:
    case 4:
      return MakeFromPlace(draft, SymbolKind::kNmethod, piece);
    case 5:
      return MakeFromPlace(draft, SymbolKind::kStub, piece);
    default:
      return MakeSampled(draft, FrameShape::kEntry, piece);
  }
}

// A chain of frames, and what was written for it.
class Chain {
 public:
  explicit Chain(Draft& draft) : draft_(draft) {}

  Piece& Next() { return pieces_[count_]; }
  void Keep() { count_++; }
  bool IsFull() const { return count_ == kMostPieces; }

  // Lays it so that it ends where a frame of the scene begins, which goes on from there; or, where
  // none fits, or at times, anywhere, followed by anything. False if the stack is too small.
  bool Lay() {
    if (count_ == 0) return false;
    int32_t total = 0;
    for (int i = 0; i < count_; i++) total += pieces_[i].size;
    if (total > draft_.StackBytes()) return false;
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
    return true;
  }

  // Leads the walker to the first frame.
  void Enter() {
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

  // Makes one of the words wrong.
  void Bend() {
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
          if (edit.slot == slot) edit.value.addend += draft_.Chance(50) ? 8 : -8;
    }
  }

  // The whole of it.
  bool Forge() {
    if (!Lay()) return false;
    Enter();
    if (draft_.Chance(50)) Bend();
    return true;
  }

 private:
  void Write(int32_t slot, const Value& value) {
    draft_.Set(slot, value);
    if (written_ < static_cast<int>(std::size(slots_))) slots_[written_++] = slot;
  }

  void LayPiece(const Piece& piece, int32_t sp, const Triple& next) {
    if (piece.place != nullptr) {
      Write(sp + piece.size - 8, next.pc);
      Write(sp + piece.size - 16, next.fp);
      if (piece.place->deopt_handler != 0 && piece.pc.addend == piece.place->deopt_handler)
        Write(sp + static_cast<int32_t>(piece.place->original_pc), draft_.CodeValue());
      return;
    }
    const FrameSample& sample = *piece.sample;
    const int words = WordsOf(sample);
    for (int i = 0; i < words; i++) {
      const int32_t slot = sp + sample.words[i].offset;
      Value value = Relocated(piece, i, sp);
      if (i == kReturn) value = next.pc;
      if (i == kLink) value = next.fp;
      if (sample.shape == FrameShape::kInterpreted) {
        if (i == kSenderSp) value = next.sp;
        // Mirror, method data and expression stack are no walker's business.
        if (i == 5 || i == 6 || i > kBcp) continue;
      }
      if (sample.shape == FrameShape::kEntry && i >= kWrapper) break;
      Write(slot, value);
    }
    if (sample.shape != FrameShape::kEntry) return;
    const auto wrapper = static_cast<int32_t>(sp + static_cast<int32_t>(sample.size));
    Write(sp + sample.words[kWrapper].offset, OnStack(wrapper));
    const Value fields[] = {next.sp, next.pc, next.fp};
    for (int field = 0; field < 3; field++)
      Write(wrapper + AnchorField(sample, field), fields[field]);
  }

  // What a word of the sample is at the new place.
  Value Relocated(const Piece& piece, int word, int32_t sp) {
    const FrameSample& sample = *piece.sample;
    Value value = sample.words[word].value;
    if (value.symbol == SymbolTable::IdOf(SymbolKind::kStack)) value.addend += sp;
    if (value.symbol != SymbolTable::IdOf(SymbolKind::kSlot) || piece.own) return value;
    // Another scene's content: metaspace where metaspace is wanted.
    if (sample.shape == FrameShape::kInterpreted && word == kCache && WordsOf(sample) > kMethod)
      return sample.words[kMethod].value;
    return draft_.ValueFor(SlotOf(sample, word));
  }

  // A frame of the scene that stands before the chain calls it its sender.
  bool Link(const Triple& top) {
    for (int tries = 0; tries < 4 && !draft_.Frames().empty(); tries++) {
      const FrameSample& frame = draft_.NearFrame();
      const int words = WordsOf(frame);
      if (words < 2 || int64_t{frame.sp} + frame.size > start_) continue;
      if (frame.shape == FrameShape::kEntry) {
        if (words < kEntryWords) continue;
        draft_.Set(SlotOf(frame, kAnchorSp), top.sp);
        draft_.Set(SlotOf(frame, kAnchorSp + 1), top.pc);
        draft_.Set(SlotOf(frame, kAnchorSp + 2), top.fp);
        return true;
      }
      draft_.Set(SlotOf(frame, kReturn), top.pc);
      draft_.Set(SlotOf(frame, kLink), top.fp);
      if (frame.shape == FrameShape::kInterpreted && words > kSenderSp)
        draft_.Set(SlotOf(frame, kSenderSp), top.sp);
      return true;
    }
    return false;
  }

  Draft& draft_;
  Piece pieces_[kMostPieces];
  int count_ = 0;
  int32_t start_ = 0;  // bytes above stack+0
  int32_t slots_[WalkRequest::kMaxEdits];
  int written_ = 0;
};

bool ForgeSampled(Draft& draft, FrameShape shape) {
  Chain chain(draft);
  if (!MakeSampled(draft, shape, chain.Next())) return false;
  chain.Keep();
  return chain.Forge();
}

}  // namespace

// A frame's sender becomes another frame, or something made up.
bool RedirectLink(Draft& draft) {
  if (draft.Frames().empty()) return false;
  const FrameSample& frame = draft.NearFrame();
  const int words = WordsOf(frame);
  if (words < 2) return false;
  const Triple sender = draft.AnyTriple();
  if (frame.shape == FrameShape::kEntry && words >= kEntryWords) {
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
  if ((which & 4) != 0 && frame.shape == FrameShape::kInterpreted && words > kSenderSp)
    draft.Set(SlotOf(frame, kSenderSp), sender.sp);
  return true;
}

// The walk starts in the middle of the stack.
bool EnterAtFrame(Draft& draft) {
  if (draft.Frames().empty()) return false;
  const Triple triple = draft.AnyTriple();
  WalkRequest& request = draft.request();
  request.pc = triple.pc;
  request.sp = triple.sp;
  request.fp = triple.fp;
  request.anchor = AnchorMode::kCleared;
  request.state = kStateInJava;
  return true;
}

bool SpliceFrame(Draft& draft) {
  constexpr FrameShape kShapes[] = {FrameShape::kInterpreted, FrameShape::kInterpreted,
                                    FrameShape::kCompiled, FrameShape::kStub, FrameShape::kEntry};
  return ForgeSampled(draft, draft.OneOf(std::span<const FrameShape>(kShapes)));
}

bool ForgeChain(Draft& draft) {
  Chain chain(draft);
  const uint32_t wanted = 2 + draft.Below(kMostPieces - 1);
  for (uint32_t tries = 0; tries < wanted + 2 && !chain.IsFull(); tries++)
    if (MakeAny(draft, chain.Next())) chain.Keep();
  // Rather than leave half of it in the list, start from nothing.
  if (draft.request().edit_count > WalkRequest::kMaxEdits / 2) {
    std::fill(draft.request().edits, draft.request().edits + draft.request().edit_count, Edit{});
    draft.request().edit_count = 0;
  }
  return chain.Forge();
}

bool ForgeInterpreted(Draft& draft) { return ForgeSampled(draft, FrameShape::kInterpreted); }

bool ForgeEntry(Draft& draft) { return ForgeSampled(draft, FrameShape::kEntry); }

bool ForgeCompiled(Draft& draft) {
  Chain chain(draft);
  if (!MakeFromPlace(draft, draft.Chance(75) ? SymbolKind::kNmethod : SymbolKind::kStub,
                     chain.Next()))
    return false;
  // Prologues and epilogues too: there the frame is not yet, or no longer, what the code says.
  Piece& piece = chain.Next();
  if (draft.Chance(30)) piece.pc = draft.At(*piece.place, draft.words().OffsetsOf(*piece.place));
  chain.Keep();
  return chain.Forge();
}

// An activation whose return address is the deoptimisation handler: its pc stands in a slot.
bool ForgeDeoptimized(Draft& draft) {
  Chain chain(draft);
  Piece& piece = chain.Next();
  if (!MakeFromPlace(draft, SymbolKind::kNmethod, piece) || piece.place->deopt_handler == 0)
    return false;
  piece.pc = {piece.place->deopt_handler, piece.place->symbol, 0};
  chain.Keep();
  return chain.Forge();
}

// An interpreted frame's Method* leads into the stack, and what stands there leads on.
bool ForgeMethod(Draft& draft) {
  bool own = false;
  const FrameSample* frame = AnySample(draft, FrameShape::kInterpreted, &own);
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
