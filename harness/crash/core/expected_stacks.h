// SPDX-License-Identifier: Apache-2.0
// ExpectedStack: stacks of a core as text, one line a frame: written by `walk`, or by people from
// another source, and compared with what a walk finds. docs/reference/core-stacks.md has the
// format. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_EXPECTED_STACKS_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_EXPECTED_STACKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/crash/core/core_walk.h"

namespace walkhammer {

// A line of a frame. What it does not say is not compared.
struct ExpectedFrame {
  bool any = false;  // "...": any number of frames
  std::string name;  // with or without the signature
  std::optional<int32_t> bci, line;
  std::string type;  // "c2"; empty: not said
  bool guessed = false;
  std::string text;  // the line itself
};

struct ExpectedStack {
  int32_t tid = 0;
  int nth_signal = 0;  // as of CoreStack
  std::vector<ExpectedFrame> frames;
  std::string end;  // word of a WalkEnd; empty: not said
};

// "interpreted", "c1", "c2", "inlined", "native", "stub", "c".
const char* FrameTypeWord(const CoreFrame& frame);
// "registers", "signal", "signal-2".
std::string PlaceWord(int nth_signal);
// "wh.Deep.go(I)I @12 :33 c2 guess"
std::string FrameText(const CoreFrame& frame);

// "in_native", or "state 77" for a number that is none.
std::string StateText(uint8_t state);
// All stacks, in the format of an expectation; those without a Java frame are only counted.
std::string StacksText(const CoreWalk& walk);

// `name`: of the file, for messages. kBadInput, with the line: it is malformed, or names no thread.
Result<std::vector<ExpectedStack>> ParseStacks(const std::string& text, const std::string& name);

// How a stack differs from what is expected of it.
struct StackDifference {
  int32_t tid = 0;
  int nth_signal = 0;
  size_t frame = 0;              // number of the first frame that differs, from 0 on
  std::string expected, walked;  // texts of both; empty: there is none
};

struct StackComparison {
  size_t equal = 0;         // stacks that are as expected
  size_t not_expected = 0;  // walked stacks of which the expectation says nothing
  std::vector<StackDifference> differences;
};

// `tid`: only stacks of this thread count; 0: all.
StackComparison CompareStacks(const CoreWalk& walk, const std::vector<ExpectedStack>& expected,
                              int32_t tid = 0);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_EXPECTED_STACKS_H_
