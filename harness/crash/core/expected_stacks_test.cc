// SPDX-License-Identifier: Apache-2.0
// Stacks as text: what is written is read again, and each kind of difference is found.
#include "harness/crash/core/expected_stacks.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

using asgst::FrameType;

CoreFrame Java(const std::string& name, int32_t bci, int32_t line, int level) {
  CoreFrame frame;
  frame.type = FrameType::kJava;
  frame.name = name;
  frame.bci = bci;
  frame.line = line;
  frame.level = level;
  return frame;
}

CoreFrame OfType(FrameType type, const std::string& name) {
  CoreFrame frame = Java(name, -1, -1, -1);
  frame.type = type;
  return frame;
}

// Two walks of thread 7, and one of thread 8.
CoreWalk SomeWalk() {
  CoreWalk walk;
  walk.version = "17.0.1";
  walk.threads = 9;
  walk.java_threads = 2;
  CoreStack stack;
  stack.tid = 7;
  stack.state = 8;
  stack.end = WalkEnd::kWhole;
  stack.frames = {OfType(FrameType::kNative, "a.A.nap(J)V"),
                  OfType(FrameType::kInlined, "a.A.b()V"), Java("a.A.c(I)I", 12, 33, 4),
                  Java("a.A.c(I)I", 12, 33, 3), Java("a.A.main()V", 0, 5, 0)};
  stack.frames[4].guessed = true;
  walk.stacks.push_back(stack);
  stack.nth_signal = 1;
  stack.signal = 11;
  stack.frames.erase(stack.frames.begin());
  walk.stacks.push_back(stack);
  stack.tid = 8;
  stack.nth_signal = 0;
  stack.frames = {OfType(FrameType::kCpp, "libc.so.6+0x10"), OfType(FrameType::kStub, "call_stub")};
  stack.frames[0].function = "read(int)\x1b[31m # 1";
  stack.end = WalkEnd::kNoCaller;
  walk.stacks.push_back(stack);
  return walk;
}

StackComparison Compare(const std::string& text, int32_t tid = 0) {
  return CompareStacks(SomeWalk(), Must(ParseStacks(text, "file")), tid);
}

// The frame that differs; -1: none does.
int FrameOfDifference(const std::string& text) {
  const StackComparison result = Compare(text);
  return result.differences.empty() ? -1 : static_cast<int>(result.differences[0].frame);
}

TEST(ExpectedStacks, WhatIsWrittenIsReadAgain) {
  const std::string text = StacksText(SomeWalk());
  EXPECT_NE(text.find("thread 7 registers  # in_Java\n"), text.npos) << text;
  EXPECT_NE(text.find("thread 7 signal  # in_Java, SIGSEGV\n"), text.npos);
  EXPECT_NE(text.find("  a.A.nap(J)V native\n  a.A.b()V inlined\n  a.A.c(I)I @12 :33 c2\n"
                      "  a.A.c(I)I @12 :33 c1\n  a.A.main()V @0 :5 interpreted guess\nend whole\n"),
            text.npos);
  EXPECT_NE(
      text.find("  libc.so.6+0x10 c  # read(int)?[31m # 1\n  call_stub stub\nend no-caller\n"),
      text.npos);
  const StackComparison result = Compare(text);
  EXPECT_EQ(result.equal, 3U);
  EXPECT_EQ(result.not_expected, 0U);
  EXPECT_TRUE(result.differences.empty());
}

TEST(ExpectedStacks, WhatALineDoesNotSayIsNotCompared) {
  const StackComparison result = Compare(
      "# a dump\nthread 7\n a.A.nap\na.A.b inlined\n\ta.A.c :33\na.A.c(I)I @12\na.A.main\n");
  EXPECT_EQ(result.equal, 1U);
  EXPECT_EQ(result.not_expected, 2U);
  EXPECT_TRUE(result.differences.empty());
}

TEST(ExpectedStacks, EachPartOfALineIsCompared) {
  const std::string head = "thread 7 signal\na.A.b\n", tail = "a.A.c\na.A.main\n";
  EXPECT_EQ(FrameOfDifference(head + "a.A.c @12 :33 c2\n" + tail), -1);
  for (const char* wrong :
       {"a.A.d", "a.A.c(J)I", "a.A.c()", "a.A.c @13", "a.A.c :34", "a.A.c c1", "a.A.c guess"})
    EXPECT_EQ(FrameOfDifference(head + wrong + "\n" + tail), 1) << wrong;
  EXPECT_EQ(FrameOfDifference(head + tail), 2);                              // one is missing
  EXPECT_EQ(FrameOfDifference(head + "a.A.c\n" + tail + "a.A.start\n"), 4);  // one too many
  EXPECT_EQ(FrameOfDifference(head + "a.A.c\na.A.c\n"), 3);                  // the last is missing
  EXPECT_EQ(FrameOfDifference(head + "a.A.c\n" + tail + "end guessed\n"), 4);
  EXPECT_EQ(FrameOfDifference("thread 7\na.A.nap @-1\na.A.b @0\n"), 1);
}

TEST(ExpectedStacks, BothSidesAreTold) {
  const StackComparison result = Compare("thread 7 signal\na.A.b\na.A.c :34\n");
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].tid, 7);
  EXPECT_EQ(result.differences[0].nth_signal, 1);
  EXPECT_EQ(result.differences[0].expected, "a.A.c :34");
  EXPECT_EQ(result.differences[0].walked, "a.A.c(I)I @12 :33 c2");
}

TEST(ExpectedStacks, AThreadThatIsNotThereIsADifference) {
  for (const char* text : {"thread 9\na.A.b\n", "thread 8 signal\n", "thread 7 signal-2\n"}) {
    const StackComparison result = Compare(text);
    EXPECT_EQ(result.differences.size(), 1U) << text;
    EXPECT_EQ(result.equal, 0U);
    EXPECT_EQ(result.not_expected, 3U);
  }
  EXPECT_TRUE(Compare("thread 9\na.A.b\n", 7).differences.empty());  // not asked for
}

TEST(ExpectedStacks, AnyFrames) {
  for (const char* same :
       {"thread 7\n...\n", "thread 7\n...\na.A.main\n", "thread 7\na.A.nap\n...\n",
        "thread 7\n...\na.A.c\na.A.c\n...\n", "thread 7\n...\na.A.c c1\n...\na.A.main\n",
        "thread 7\n...\na.A.nap\na.A.b\na.A.c\na.A.c\na.A.main\n...\n"})
    EXPECT_EQ(FrameOfDifference(same), -1) << same;
  for (const char* other :
       {"thread 7\n...\na.A.c\n", "thread 7\n...\na.A.main\na.A.main\n",
        "thread 7\n...\na.A.main\n...\na.A.c\n...\n", "thread 7\n...\na.A.b\na.A.main\n",
        "thread 7\n...\na.A.nap\na.A.nap\na.A.b\na.A.c\na.A.c\na.A.main\n"})
    EXPECT_NE(FrameOfDifference(other), -1) << other;
}

TEST(ExpectedStacks, RefusesNonsenseWithItsLine) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "names no thread"},
      {"# thread 7\n", "names no thread"},
      {"a.A.b\n", "line 1"},
      {"thread\n", "needs its id"},
      {"thread main\n", "needs its id"},
      {"thread -7\n", "needs its id"},
      {"thread 99999999999\n", "needs its id"},
      {"thread 7 stack\n", "comes registers"},
      {"thread 7 signal-1\n", "comes registers"},
      {"thread 7 signal extra\n", "comes registers"},
      {"thread 7\n\na.A.b @x\n", "line 3: @x is neither"},
      {"thread 7\na.A.b c3\n", "c3 is neither"},
      {"thread 7\n... c2\n", "c2 is neither"},
      {"thread 7\nend\n", "end needs one word"},
      {"thread 7\nend never\n", "end needs one word"},
      {"thread 7\nend whole\na.A.b\n", "line 3"},
      {"thread 7\nthread 7 registers\n", "there already"}};
  for (const auto& [text, message] : refused)
    EXPECT_THAT(ParseStacks(text, "file"),
                FailsWith(ExitCode::kBadInput, testing::HasSubstr(message)))
        << text;
  EXPECT_FALSE(ParseStacks(std::string("thread 7\na\0b \x80\xff\n", 17), "file").ok());
}

TEST(ExpectedStacks, ThreadsWithoutJavaAreCounted) {
  CoreWalk walk = SomeWalk();
  CoreStack none;
  none.tid = 9;
  none.end = WalkEnd::kNoJava;
  walk.stacks.push_back(none);
  walk.left_out = 3;
  walk.is_cut_off = true;
  const std::string text = StacksText(walk);
  EXPECT_EQ(text.find("thread 9"), text.npos);
  EXPECT_NE(text.find("# 1 threads of Java have no Java frame\n"), text.npos);
  EXPECT_NE(text.find("# 3 more threads are left out"), text.npos);
  EXPECT_NE(text.find("# the core is cut off"), text.npos);
  EXPECT_TRUE(CompareStacks(walk, Must(ParseStacks("thread 9\nend no-java\n", "file")))
                  .differences.empty());
}

}  // namespace
}  // namespace walkhammer
