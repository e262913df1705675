// SPDX-License-Identifier: Apache-2.0
// Chain: a stack of forged frames that a walker takes for frames of the scene. Piece: one forged
// frame. The mutations in bad_frames.cc build chains. Signal-safe: no (but allocates nothing).
#ifndef WALKHAMMER_HARNESS_GENERATE_FRAME_CHAIN_H_
#define WALKHAMMER_HARNESS_GENERATE_FRAME_CHAIN_H_

#include <cstdint>

#include "harness/generate/request_builder.h"
#include "harness/generate/values.h"

namespace walkhammer {

// Indices into FrameSample::words.
inline constexpr int kReturn = 0, kLink = 1;
inline constexpr int kSenderSp = 2, kMethod = 4, kCache = 7, kBcp = 9;  // interpreted frames
inline constexpr int kWrapper = 2, kAnchorSp = 3, kEntryWords = 6;      // entry frames

inline constexpr int kMostPieces = 4;

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

int WordsOf(const FrameSample& frame);
// Slot of a frame's word on the stack of the frame's own scene, bytes above stack+0.
int32_t SlotOf(const FrameSample& frame, int word);
// A random frame of `shape`: of the request's scene (then *own is true) if one is found there, else
// of a random scene. Null if none is found.
const FrameSample* AnySample(RequestBuilder& builder, SampleShape shape, bool* own);

// Each fills `piece` in with a random frame that fits the stack. False if none is found.
bool MakeSampled(RequestBuilder& builder, SampleShape shape, Piece& piece);
bool MakeFromPlace(RequestBuilder& builder, SymbolKind kind, Piece& piece);
bool MakeAny(RequestBuilder& builder, Piece& piece);

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

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GENERATE_FRAME_CHAIN_H_
