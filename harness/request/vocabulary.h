// Vocabulary: what a mutator may say of this process: addresses worth presenting, what the scenes'
// stacks hold and where. Made by the child out of landscape and scenes; read by the random engine,
// by the structure-aware mutator in the child, and by AFL++'s mutator in another process.
// Symbol ids are those of the SymbolTable beside it. Signal-safe: reading yes.
#ifndef WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_
#define WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_

#include <cstdint>
#include <span>

#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {

// Something that a value may point at: symbol + 0 .. size-1.
struct Place {
  uint32_t symbol;
  uint32_t size;          // bytes
  uint32_t first_offset;  // into Vocabulary::offsets: where instructions start that matter
  uint16_t offset_count;  // (returns of calls, prologue, epilogue); 0: none known
  uint16_t reserved;
};

// One word of a frame, named.
struct FrameWord {
  int32_t offset;  // bytes above the frame's sp, a multiple of 8
  // What it holds. kStack: an address of the same stack, with the addend relative to the frame's
  // own sp, so that the frame can be put elsewhere.
  Value value;
};

enum class FrameShape : uint8_t { kInterpreted, kCompiled, kStub, kEntry };

// A whole frame of a scene, as it can be put into another scene's stack.
struct FrameSample {
  static constexpr int kMaxWords = 16;
  FrameShape shape;
  uint8_t word_count;
  uint16_t reserved;
  uint32_t sp;                 // bytes above stack+0
  uint32_t size;               // bytes up to the sender's sp
  int32_t fp;                  // bytes above sp; INT32_MIN where unknown
  Value pc;                    // where it stands
  FrameWord words[kMaxWords];  // return address, link, method, ...: what walkers read
};

struct SceneWords {
  static constexpr int kMaxSlots = 256;  // of each kind
  static constexpr int kMaxFrames = 48;
  uint32_t available;  // 0: not set up in this process
  uint32_t words;      // of the stack worth editing, from stack+0 on
  uint32_t code_count, pointer_count, method_count, frame_count;
  uint32_t code[kMaxSlots];        // offsets from stack+0 in bytes: return addresses
  uint32_t pointers[kMaxSlots];    // links and other addresses of the same stack
  uint32_t methods[kMaxSlots];     // Method* of interpreted frames
  FrameSample frames[kMaxFrames];  // newest first
};

struct Vocabulary {
  static constexpr int kMaxPlaces = 12288;
  static constexpr int kMaxOffsets = 65536;
  static constexpr int kScenes = 32;

  // Places of one kind stand together: [first[kind], first[kind] + count[kind]).
  uint32_t first[kSymbolKinds], count[kSymbolKinds];
  uint32_t place_count, offset_count;
  Place places[kMaxPlaces];
  uint32_t offsets[kMaxOffsets];
  SceneWords scenes[kScenes];

  std::span<const Place> Of(SymbolKind kind) const {
    const auto k = static_cast<int>(kind);
    return {places + first[k], count[k]};
  }
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_VOCABULARY_H_
