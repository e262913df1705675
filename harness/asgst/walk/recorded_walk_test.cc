// SPDX-License-Identifier: Apache-2.0
// Repeats walks that were recorded on real JVMs of both architectures (recorded_walk_api_test.cc).
#include "harness/asgst/testing/recorded_walk.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace walkhammer::asgst {
namespace {

std::vector<std::filesystem::path> Records() {
  std::vector<std::filesystem::path> all;
  for (const auto& entry : std::filesystem::directory_iterator(WALKHAMMER_RECORDS))
    all.push_back(entry.path());
  return all;
}

RecordedWalk Recorded(const std::filesystem::path& path) {
  RecordedWalk walk;
  std::ifstream file(path);
  EXPECT_TRUE(Read(file, walk)) << path;
  return walk;
}

TEST(RecordedWalkTest, AnswersAsOnTheMachine) {
  std::map<std::string, int> records;
  for (const auto& path : Records()) {
    const RecordedWalk walk = Recorded(path);
    EXPECT_EQ(walk.Again(), walk.frames) << path;
    EXPECT_FALSE(walk.frames.empty()) << path;
    records[walk.arch]++;
  }
  EXPECT_GE(records["x86_64"], 8);
  EXPECT_GE(records["aarch64"], 8);
}

// Signatures on return addresses change nothing.
TEST(RecordedWalkTest, SignedReturnAddresses) {
  for (const auto& path : Records()) {
    RecordedWalk walk = Recorded(path);
    if (walk.arch != "aarch64") continue;
    const auto words = walk.memory.words();
    for (const auto& [address, word] : words)
      if (address >= walk.start.stack_floor && address < walk.start.stack_high &&
          word >= walk.layout.code.interpreter_begin && word < walk.layout.code.interpreter_end)
        walk.memory.Put(address, word | 0x2b000000000000);
    EXPECT_EQ(walk.Again(), walk.frames) << path;
  }
}

// The walk ends whatever word is wrong; sanitizers find other errors.
TEST(RecordedWalkTest, DamageOfAnyWordEnds) {
  size_t others = 0;
  for (const auto& path : Records()) {
    RecordedWalk walk = Recorded(path);
    const auto words = walk.memory.words();
    for (const auto& [address, word] : words) {
      for (const uint64_t wrong : {uint64_t{0}, ~word, word + 8, word ^ 1}) {
        walk.memory.Put(address, wrong);
        others += walk.Again() == walk.frames ? 0 : 1;
      }
      walk.memory.Put(address, word);
    }
  }
  EXPECT_GT(others, 1000U);  // most words matter
}

TEST(RecordedWalkTest, WhatIsNoRecord) {
  RecordedWalk walk;
  for (const char* text :
       {"", "recorded-walk 2\n", "recorded-walk 1\narch arm\n",
        "recorded-walk 1\narch x86_64\nword 0x10\n", "recorded-walk 1\narch x86_64\n"}) {
    std::istringstream in(text);
    EXPECT_FALSE(Read(in, walk)) << text;
  }
}

}  // namespace
}  // namespace walkhammer::asgst
