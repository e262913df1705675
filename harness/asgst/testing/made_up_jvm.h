// SPDX-License-Identifier: Apache-2.0
// MadeUpJvm: a synthetic small JVM: code heap, compiled code with debug information, methods and a
// stack, for either architecture on any host. On the stack are two compiled methods, the older one
// with an inlined method, called through an entry frame. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_JVM_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_JVM_H_

#include <vector>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/java_walk.h"

namespace walkhammer::asgst {

class MadeUpJvm {
 public:
  static constexpr uint64_t kHeap = 0x100000, kCache = 0x200000, kCacheEnd = 0x204000,
                            kMap = 0x300000, kNames = 0x310000, kMethods = 0x400000,
                            kThread = 0x500000, kBounds = 0x600000, kStack = 0x7000000,
                            kStackEnd = 0x7001000;
  static constexpr int kSegment = 7;  // log2 of a segment's bytes
  static constexpr uint64_t kInterpreter = kCacheEnd - 0x100;
  static constexpr uint64_t kLeafSp = kStack + 0x100;
  static uint64_t Method(uint64_t number) { return kMethods + 0x1000 * number; }

  // The thread is in Java, interrupted in the leaf with sp = kLeafSp.
  explicit MadeUpJvm(const CodeRules& rules);

  // Makes the leaf's caller an interpreted frame, in method 1 at bci 9.
  void InterpretCaller();

  WalkLayout layout{};
  MadeUpMemory memory;
  WalkStart start;
  // First instructions of: method 0; method 1, with method 2 inlined; a stub; another stub.
  uint64_t leaf = 0, caller = 0, stub = 0, other_stub = 0;

 private:
  struct Described {
    uint32_t offset, scope;
  };
  void SetLayout(const CodeRules& rules);
  void PutHeap();
  void PutStack();
  void AddMethod(uint64_t number);
  // Adds a block of 0x400 bytes whose code begins at offset 0x200. Returns the address of that
  // code.
  uint64_t AddBlob(uint64_t number, uint64_t name, int level, uint32_t frame_words,
                   uint32_t complete);
  uint64_t AddCode(uint64_t number, uint32_t frame_words, uint32_t complete,
                   const std::vector<Described>& pcs);
  void PutScope(uint64_t code, uint64_t offset, const std::vector<uint8_t>& numbers);
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_MADE_UP_JVM_H_
