// SPDX-License-Identifier: Apache-2.0
// What makes two answers different, so that the second one is judged, too.
#include "stress/answer_hash.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>

#include "harness/oracles/provocation_testing.h"
#include "harness/request/walker_table.h"

namespace walkhammer::stress {
namespace {

int ids[4];

struct Answer : Case {
  ShadowStack shadow{};

  Answer() {
    frames = {{4, 0, &ids[0]}, {5, 0, &ids[1]}, {6, 0, &ids[2]}};
    sampled = true;
    seen.buffer_intact = true;
    seen.trace = {Ending::kReturned, 3, nullptr};
    seen.before = seen.after = {0, kStateInJava, 0x7000, 0x100, 0x7010, 0};
  }
  uint64_t Hash() { return HashOfAnswer(Whole()); }
};

uint64_t Changed(const std::function<void(Answer&)>& change) {
  Answer answer;
  change(answer);
  return answer.Hash();
}

TEST(AnswerHash, TheSameAnswerHasTheSameHash) {
  EXPECT_NE(Answer().Hash(), 0U);
  EXPECT_EQ(Answer().Hash(), Answer().Hash());
}

TEST(AnswerHash, EachPartOfAnAnswerCounts) {
  std::set<uint64_t> hashes = {0, Answer().Hash()};
  const auto expect_new = [&](const char* what, const std::function<void(Answer&)>& change) {
    EXPECT_TRUE(hashes.insert(Changed(change)).second) << what;
  };
  for (size_t i = 0; i < 3; i++) {
    expect_new("another method", [i](Answer& a) { a.frames[i].method = &ids[3]; });
    expect_new("another bci", [i](Answer& a) { a.frames[i].bci += 7; });
    expect_new("a bci below 0", [i](Answer& a) { a.frames[i].bci = -1; });
    expect_new("no method", [i](Answer& a) { a.frames[i].method = nullptr; });
  }
  for (const size_t i : {0, 1})
    expect_new("swapped", [i](Answer& a) { std::swap(a.frames[i], a.frames[i + 1]); });
  expect_new("fewer frames", [](Answer& a) { a.seen.trace.num_frames = 2; });
  expect_new("none", [](Answer& a) { a.seen.trace.num_frames = 0; });
  expect_new("an error", [](Answer& a) { a.seen.trace.num_frames = -1; });
  expect_new("another one", [](Answer& a) { a.seen.trace.num_frames = -2; });
  expect_new("cut as asked", [](Answer& a) { a.seen.trace.ended_on_request = true; });
}

TEST(AnswerHash, WhatIsAmissIsAlwaysJudged) {
  static const DescribedFrame described{};
  const std::pair<const char*, void (*)(Answer&)> amiss[] = {
      {"crashed", [](Answer& a) { a.seen.trace.ending = Ending::kCrashed; }},
      {"hung", [](Answer& a) { a.seen.trace.ending = Ending::kHung; }},
      {"buffer", [](Answer& a) { a.seen.buffer_intact = false; }},
      {"malloc", [](Answer& a) { a.unsafe_call.function = "malloc"; }},
      {"stack", [](Answer& a) { a.seen.stack_write.found = true; }},
      {"errno", [](Answer& a) { a.seen.after.error_number = 1; }},
      {"state", [](Answer& a) { a.seen.after.thread_state = 1; }},
      {"sp", [](Answer& a) { a.seen.after.anchor_sp = 1; }},
      {"pc", [](Answer& a) { a.seen.after.anchor_pc = 1; }},
      {"fp", [](Answer& a) { a.seen.after.anchor_fp = 1; }},
      {"shadow", [](Answer& a) { a.facts.shadow = &a.shadow; }},
      {"another walker", [](Answer& a) { a.seen.other.walker = &AllWalkers()[0]; }},
      {"names", [](Answer& a) { a.seen.trace.described = &described; }},
      {"complaint", [](Answer& a) { a.seen.trace.complaint = "it says yes and no"; }},
      {"too many", [](Answer& a) { a.request.depth = 2; }},
  };
  for (const auto& [what, change] : amiss) EXPECT_EQ(Changed(change), 0U) << what;
  EXPECT_NE(Changed([](Answer& a) { a.request.depth = 3; }), 0U) << "as many as asked for";
}

}  // namespace
}  // namespace walkhammer::stress
