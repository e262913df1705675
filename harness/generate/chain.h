// SPDX-License-Identifier: Apache-2.0
// Chain: forged frames, one upon the other, that a walker takes for frames of the scene; with
// Piece, one of them. Forgeries are made of them. Signal-safe: no (but allocates nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_CHAIN_H_
#define WALKHAMMER_HARNESS_GENERATE_CHAIN_H_

#include <cstdint>

#include "harness/generate/draft.h"

namespace walkhammer {

// Indices into FrameSample::words.
inline constexpr int kReturn = 0, kLink = 1;
inline constexpr int kSenderSp = 2, kMethod = 4, kCache = 7, kBcp = 9;  // interpreted frames
inline constexpr int kWrapper = 2, kAnchorSp = 3, kEntryWords = 6;      // entry frames

inline constexpr int kMostPieces = 4;

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

int WordsOf(const FrameSample& frame);
// Where a word of a frame lies on the stack of its own scene.
int32_t SlotOf(const FrameSample& frame, int word);
// A frame of that shape, of this scene if it has one, else of one that is found at random.
const FrameSample* AnySample(Draft& draft, SampleShape shape, bool* own);

// False where the vocabulary has none that fits the stack.
bool MakeSampled(Draft& draft, SampleShape shape, Piece& piece);
bool MakeFromPlace(Draft& draft, SymbolKind kind, Piece& piece);
bool MakeAny(Draft& draft, Piece& piece);

class Chain {
 public:
  explicit Chain(Draft& draft) : draft_(draft) {}

  // To be filled, then kept.
  Piece& Next() { return pieces_[count_]; }
  void Keep() { count_++; }
  bool IsFull() const { return count_ == kMostPieces; }

  // Lays it, leads the walker there, and often makes one word wrong. False if there is nothing to
  // lay or the stack is too small.
  bool Forge();

 private:
  // So that it ends where a frame of the scene begins, which goes on from there; or, where none
  // fits, or at times, anywhere, followed by anything.
  bool Lay();
  void LayPiece(const Piece& piece, int32_t sp, const Triple& next);
  // What a word of the sample is at the new place.
  Value Relocated(const Piece& piece, int word, int32_t sp);
  void Write(int32_t slot, const Value& value);
  // Leads the walker to the first frame.
  void Enter();
  // A frame of the scene that stands before the chain calls it its sender.
  bool Link(const Triple& top);
  // Makes one of the words wrong.
  void Bend();

  Draft& draft_;
  Piece pieces_[kMostPieces];
  int count_ = 0;
  int32_t start_ = 0;  // bytes above stack+0
  int32_t slots_[WalkRequest::kUsualEdits];
  int written_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_CHAIN_H_
