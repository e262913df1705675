// SPDX-License-Identifier: Apache-2.0
// Vocabulary: what a mutator may say of this process: addresses worth presenting, what the scenes'
// stacks hold and where. Made by the child out of landscape and scenes; read by the random engine,
// by the structure-aware mutator in the child, and by AFL++'s mutator in another process.
// Symbol ids are those of the SymbolTable beside it. Signal-safe: reading yes.
#ifndef WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_
#define WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// Something that a value may point at: symbol + 0 .. size-1.
struct Place {
  uint32_t symbol;
  uint32_t size;  // bytes
  // Code only, else 0. Offsets are bytes from the start, into Vocabulary::offsets: first those that
  // calls return to, which have debug information; then other instruction starts, near both ends.
  uint32_t first_offset;
  uint16_t offset_count;
  uint16_t return_count;
  uint32_t frame_words;    // size of its frame, return address included; 0: none or unknown
  uint32_t deopt_handler;  // nmethods: bytes from the start; 0: none
  uint32_t original_pc;    // nmethods: bytes above sp of the slot that deoptimisation uses; 0: none
};

// One word of a frame, named.
struct FrameWord {
  int32_t offset;  // bytes above the frame's sp, a multiple of 8
  // What it holds. kStack: an address of the same stack, with the addend relative to the frame's
  // own sp, so that the frame can be put elsewhere.
  Value value;
};

enum class SampleShape : uint8_t { kInterpreted, kCompiled, kStub, kEntry };

// A whole frame of a scene, as it can be put into another scene's stack. Its words, in this order:
// return address, link; then of interpreted frames the nine below fp, downwards (sender_sp,
// last_sp, Method*, mirror and method data in either order, cache, locals, bcp, initial sp); of
// entry frames the pointer to the JavaCallWrapper, and sp, pc, fp of the anchor therein, which lies
// above the frame; of deoptimised activations the original pc.
struct FrameSample {
  static constexpr int kMaxWords = 16;
  static constexpr int32_t kNoFp = INT32_MIN;
  SampleShape shape;
  uint8_t word_count;
  uint16_t reserved;
  uint32_t sp;    // bytes above stack+0
  uint32_t size;  // bytes up to the sender's sp
  int32_t fp;     // bytes above sp; kNoFp where unknown
  Value pc;       // where it stands
  FrameWord words[kMaxWords];
};

// Accessors never lead out of their arrays, even when a crashing child wrote over the counts.
struct SceneWords {
  static constexpr int kMaxSlots = 512;  // of each kind; where there are more, evenly spread ones
  static constexpr int kMaxFrames = 48;
  static constexpr int kMaxNearPcs = 32;
  uint32_t available;  // 0: not set up in this process
  uint32_t words;      // of the stack worth editing, from stack+0 on
  uint32_t code_count, pointer_count, method_count, frame_count, near_pc_count;
  uint32_t code[kMaxSlots];        // offsets from stack+0 in bytes: return addresses
  uint32_t pointers[kMaxSlots];    // links and other addresses of the same stack
  uint32_t methods[kMaxSlots];     // Method* of interpreted frames
  FrameSample frames[kMaxFrames];  // newest first
  int32_t near_pcs[kMaxNearPcs];   // bytes from the pristine pc to instruction starts around it

  std::span<const uint32_t> Code() const {
    return {code, std::min<uint32_t>(code_count, kMaxSlots)};
  }
  std::span<const uint32_t> Pointers() const {
    return {pointers, std::min<uint32_t>(pointer_count, kMaxSlots)};
  }
  std::span<const uint32_t> Methods() const {
    return {methods, std::min<uint32_t>(method_count, kMaxSlots)};
  }
  std::span<const FrameSample> Frames() const {
    return {frames, std::min<uint32_t>(frame_count, kMaxFrames)};
  }
  std::span<const int32_t> NearPcs() const {
    return {near_pcs, std::min<uint32_t>(near_pc_count, kMaxNearPcs)};
  }
};

struct Vocabulary {
  static constexpr uint32_t kMaxPlaces = 12288;
  static constexpr uint32_t kMaxOffsets = 65536;
  static constexpr int kScenes = 32;
  static constexpr uint32_t kMaxLandmarks = 64;

  // Places of one kind stand together: [first[kind], first[kind] + count[kind]).
  uint32_t first[kSymbolKinds], count[kSymbolKinds];
  uint32_t place_count, offset_count;
  Place places[kMaxPlaces];
  uint16_t place_of[SymbolTable::kCapacity];  // by symbol: index into places + 1; 0: none
  uint32_t offsets[kMaxOffsets];
  SceneWords scenes[kScenes];
  // Addresses that walkers compare a pc with: where entry frames and continuations return to, what
  // deoptimisation and exceptions enter.
  uint32_t landmark_count;
  Value landmarks[kMaxLandmarks];

  std::span<const Value> Landmarks() const {
    return {landmarks, std::min(landmark_count, kMaxLandmarks)};
  }
  std::span<const Place> Of(SymbolKind kind) const {
    const auto k = static_cast<int>(kind);
    const uint32_t begin = std::min(first[k], kMaxPlaces);
    return {places + begin, std::min(count[k], kMaxPlaces - begin)};
  }
  // The place that `symbol` names, or null.
  const Place* PlaceOf(uint32_t symbol) const {
    const uint32_t index = symbol < SymbolTable::kCapacity ? place_of[symbol] : 0;
    return index == 0 || index > kMaxPlaces ? nullptr : &places[index - 1];
  }
  std::span<const uint32_t> OffsetsOf(const Place& place) const {
    const uint32_t begin = std::min(place.first_offset, kMaxOffsets);
    return {offsets + begin, std::min<uint32_t>(place.offset_count, kMaxOffsets - begin)};
  }
  std::span<const uint32_t> ReturnsOf(const Place& place) const {
    const auto all = OffsetsOf(place);
    return all.first(std::min<size_t>(place.return_count, all.size()));
  }
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_
