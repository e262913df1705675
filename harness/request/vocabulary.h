// SPDX-License-Identifier: Apache-2.0
// Vocabulary: what a mutator may use of this process: addresses worth presenting, and what the
// scenes' stacks hold and where. The child makes it from address_map and scenes. The random engine
// and the structure-aware mutator read it in the child, AFL++'s mutator in another process.
// Symbol ids are those of the SymbolTable in the same shared state. Signal-safe: reading yes.
#ifndef WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_
#define WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_

#include <algorithm>
#include <cstdint>
#include <span>

#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// An address range that a value may point to: symbol + 0 .. size-1.
struct Place {
  uint32_t symbol;
  uint32_t size;  // bytes
  // Code only, else 0: Vocabulary::offsets[first_offset .. first_offset + offset_count - 1] are
  // instruction starts, in bytes from the start of the code. The first `return_count` are return
  // addresses of calls, which have debug information; the others are near both ends of the code.
  uint32_t first_offset;
  uint16_t offset_count;
  uint16_t return_count;
  uint32_t frame_words;    // size of the code's frame with return address; 0: none or unknown
  uint32_t deopt_handler;  // nmethods: bytes from the start of the code; 0: none
  uint32_t original_pc;    // nmethods: bytes from sp to the slot for the original pc; 0: none
};

// One word of a frame, as a Value.
struct FrameWord {
  int32_t offset;  // bytes above the frame's sp, a multiple of 8
  // What the word holds. kStack: an address of the same stack; its addend is relative to the
  // frame's own sp, so that the frame can be placed elsewhere.
  Value value;
};

enum class SampleShape : uint8_t { kInterpreted, kCompiled, kStub, kEntry };

// A whole frame of a scene, which can be placed into another scene's stack. `words` holds, in this
// order: return address, link, and then
//   interpreted frames: the nine words below fp, from fp downwards: sender_sp, last_sp, Method*,
//     mirror and method data in either order, cache, locals, bcp, initial sp;
//   entry frames: the pointer to the JavaCallWrapper, then sp, pc and fp of the anchor in the
//     wrapper, which is above the frame;
//   deoptimised activations: the original pc.
struct FrameSample {
  static constexpr int kMaxWords = 16;
  static constexpr int32_t kNoFp = INT32_MIN;
  SampleShape shape;
  uint8_t word_count;
  uint16_t reserved;
  uint32_t sp;    // bytes above stack+0 of the frame's own scene
  uint32_t size;  // bytes from sp to the sender's sp
  int32_t fp;     // bytes above sp; kNoFp where unknown
  Value pc;       // of the frame, while it is the top frame
  FrameWord words[kMaxWords];
};

// What the stack of one scene holds. The accessors stay within their arrays even if a crashing
// child wrote over the counts.
struct SceneWords {
  static constexpr int kMaxSlots = 512;  // of each kind, evenly spread if there are more
  static constexpr int kMaxFrames = 48;
  static constexpr int kMaxNearPcs = 32;
  uint32_t available;  // 0: the scene is not set up in this process
  uint32_t words;      // number of stack words worth editing, from stack+0 upwards
  uint32_t code_count, pointer_count, method_count, frame_count, near_pc_count;
  uint32_t code[kMaxSlots];        // byte offsets from stack+0 of return addresses
  uint32_t pointers[kMaxSlots];    // byte offsets from stack+0 of links and other stack addresses
  uint32_t methods[kMaxSlots];     // byte offsets from stack+0 of interpreted frames' Method*
  FrameSample frames[kMaxFrames];  // newest first
  int32_t near_pcs[kMaxNearPcs];   // bytes from the pristine pc to nearby instruction starts

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

  // The places of one kind are places[first[kind] .. first[kind] + count[kind] - 1].
  uint32_t first[kSymbolKinds], count[kSymbolKinds];
  uint32_t place_count, offset_count;
  Place places[kMaxPlaces];
  uint16_t place_of[SymbolTable::kCapacity];  // by symbol id: index into `places`, plus 1; 0: none
  uint32_t offsets[kMaxOffsets];
  SceneWords scenes[kScenes];
  // Addresses that walkers compare a pc with: return addresses into entry frames and continuations,
  // entry points of deoptimisation and exception handling.
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
  // The place of a symbol id, or null.
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
