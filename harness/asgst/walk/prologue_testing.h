// SPDX-License-Identifier: Apache-2.0
// For tests of the rules about code: synthetic code, and what the rules say of each instruction.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_TESTING_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_TESTING_H_

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "harness/asgst/testing/made_up_memory.h"
#include "harness/asgst/walk/prologue.h"

namespace walkhammer::asgst {

inline constexpr uint64_t kCode = 0x10000, kSize = 0x400;

using Bytes = std::vector<uint8_t>;

// Generated code at kCode, filled up with instructions that are of no interest.
class Prologue : public testing::Test {
 protected:
  Prologue(const CodeRules& rules, const Bytes& filler) : rules_(rules) {
    code_.kind = CodeKind::kNmethod;
    code_.begin = kCode;
    code_.end = kCode + kSize;
    code_.level = 4;
    code_.frame_complete = 0;
    code_.frame_words = 6;
    for (uint64_t at = kCode - 64; at < kCode + kSize + 64; at += filler.size())
      memory_.PutBytes(at, filler);
  }

  // Writes instructions from `offset` on; returns the offset behind them.
  uint64_t Put(uint64_t offset, std::initializer_list<Bytes> instructions) {
    for (const Bytes& bytes : instructions) {
      memory_.PutBytes(kCode + offset, bytes);
      offset += bytes.size();
    }
    return offset;
  }

  // What `ask` says of the instructions from `offset` on, a letter for each, and of what is behind
  // them.
  std::string AtEach(uint64_t offset, std::initializer_list<Bytes> instructions,
                     const std::function<char(uint64_t offset)>& ask) {
    Put(offset, instructions);
    std::string letters(1, ask(offset));
    for (const Bytes& bytes : instructions) letters += ask(offset += bytes.size());
    return letters;
  }
  std::string ShapesAt(uint64_t offset, std::initializer_list<Bytes> instructions) {
    return AtEach(offset, instructions, [&](uint64_t at) { return ShapeAt(at); });
  }
  char ShapeAt(uint64_t offset) const {
    // kWhole, kNone, kFpPushed, kFpNotSaved, kInLink, kSpMoved, kBeyondCall, kByFp, kUnknown
    return "WNPFLMCB?"[static_cast<int>(asgst::ShapeAt(rules_, memory_, code_, kCode + offset))];
  }
  // The bytes that CodeRules::sets_up_fp tells of code: up to the push, and all.
  std::string SetUpBy(std::initializer_list<Bytes> code) {
    Put(0, code);
    int pushed = 0, all = 0;
    if (!rules_.sets_up_fp(memory_, kCode, pushed, all)) return "none";
    return std::to_string(pushed) + " " + std::to_string(all);
  }
  // Expects `rule` to say so of each code, at its first byte or, with `behind`, behind it.
  void ExpectOfEach(bool (*rule)(const MemoryReader& memory, uint64_t pc), bool behind,
                    bool expected, std::initializer_list<Bytes> codes) {
    for (const Bytes& code : codes) {
      Put(16, {Bytes(16, 0x90), code});
      EXPECT_EQ(rule(memory_, kCode + 32 + (behind ? code.size() : 0)), expected)
          << testing::PrintToString(code);
      Put(32, {Bytes(16, 0x90)});
    }
    EXPECT_FALSE(rule(memory_, kCode + 2 * kSize)) << "not to be read";
  }
  // The numbers of words that CodeRules::takes_back tells.
  std::string TakenBackAt(uint64_t offset, std::initializer_list<Bytes> instructions) {
    return AtEach(offset, instructions, [&](uint64_t at) {
      return static_cast<char>('0' + rules_.takes_back(memory_, code_, kCode + at));
    });
  }

  const CodeRules& rules_;
  MadeUpMemory memory_;
  FoundCode code_;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_PROLOGUE_TESTING_H_
