// SPDX-License-Identifier: Apache-2.0
// Hand-made observations that provoke an outcome of an oracle. What spares time in judging must not
// change a verdict. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ORACLES_PROVOCATION_TESTING_H_
#define WALKHAMMER_HARNESS_ORACLES_PROVOCATION_TESTING_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "harness/oracles/observation.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {

// What `oracle` says of `seen`, which has no true_frames. Expects the same with true_frames, and
// that the oracle is asked if it has anything to say.
inline uint8_t JudgeBothWays(const Oracle& oracle, Observation seen, char* text, size_t size) {
  if (oracle.judge == nullptr) return 0;
  const uint8_t outcome = oracle.judge(seen, text, size);
  for (const bool compared : {false, true}) {
    if (compared) seen.true_frames = TrueFrames(seen.trace, seen.truth, seen.request->depth);
    char again[256] = "";
    EXPECT_EQ(oracle.judge(seen, again, sizeof again), outcome) << oracle.name;
    if (outcome == 0) continue;
    EXPECT_STREQ(again, text);
    const auto index = static_cast<size_t>(&oracle - AllOracles().data());
    EXPECT_NE(OraclesFor(FactsOf(seen)) >> index & 1, 0U) << oracle.name << " would not be asked";
  }
  return outcome;
}

// An observation and what it points to. The test's own kind of case fills it.
struct Case {
  WalkRequest request;
  std::vector<Frame> truth, frames, others;
  Fault fault{};
  UnsafeCall unsafe_call{};
  SampleFacts facts{};
  bool sampled = false;  // `facts` are known
  Observation seen{};

  // `seen`, with what it points to.
  const Observation& Whole() {
    seen.request = &request;
    seen.truth = truth;
    seen.sample = sampled ? &facts : nullptr;
    seen.trace.frames = frames.data();
    seen.other.trace.frames = others.data();
    seen.fault = &fault;
    seen.unsafe_call = &unsafe_call;
    return seen;
  }
  // Runs one oracle; `detail` gets what it says.
  uint8_t Judge(const Oracle& oracle, std::string& detail) {
    char text[256];
    std::memset(text, '#', sizeof text);
    const uint8_t outcome = JudgeBothWays(oracle, Whole(), text, sizeof text);
    detail = outcome == 0 ? "" : std::string(text, strnlen(text, sizeof text));
    return outcome;
  }
  // The outcome's name.
  std::string Word(const char* oracle) {
    std::string detail;
    return FindOracle(oracle)->outcomes[Judge(*FindOracle(oracle), detail)].name;
  }
  void Return(std::vector<Frame> returned) {
    frames = std::move(returned);
    seen.trace.num_frames = static_cast<int32_t>(frames.size());
  }
};

// What is changed of a case. Changes are added up, the left one first.
class Change {
 public:
  template <typename Function>
  Change(Function function) : function_(std::move(function)) {}  // NOLINT: a lambda is a change
  void operator()(Case& c) const { function_(c); }
  friend Change operator+(Change first, Change second) {
    return [first, second](Case& c) { first(c), second(c); };
  }

 private:
  std::function<void(Case&)> function_;
};

inline Change Nothing() {
  return [](Case&) {};
}
inline Change Answers(int32_t code) {
  return [=](Case& c) { c.seen.trace.num_frames = code; };
}
template <typename... Frames>
Change Return(Frames... frames) {
  return [=](Case& c) { c.Return({frames...}); };
}
inline Change GuessFrom(int frame) {
  return [=](Case& c) { c.seen.trace.guessed_from = frame; };
}
inline Change EndOnRequest() {
  return [](Case& c) { c.seen.trace.ended_on_request = true; };
}
inline Change Depth(int32_t depth) {
  return [=](Case& c) { c.request.depth = depth; };
}
inline Change Bci(size_t frame, int32_t bci) {
  return [=](Case& c) { c.frames[frame].bci = bci; };
}
inline Change Method(size_t frame, void* method) {
  return [=](Case& c) { c.frames[frame].method = method; };
}
inline Change Kind(size_t frame, int kind) {
  return [=](Case& c) { c.frames[frame].kind = static_cast<decltype(Frame::kind)>(kind); };
}
inline Frame At(int32_t bci, void* method) { return {bci, 0, method}; }

struct Provocation {
  const char* name;
  const char* oracle;
  const char* outcome;
  Change change;
  const char* detail = "";  // part of what the oracle says
};
inline void PrintTo(const Provocation& p, std::ostream* out) {
  *out << p.oracle << "/" << p.outcome;
}

// Expects that `wanted`, applied to `c`, has its outcome.
inline void ExpectProvoked(const Provocation& wanted, Case& c) {
  const Oracle* oracle = FindOracle(wanted.oracle);
  ASSERT_NE(oracle, nullptr);
  wanted.change(c);
  std::string detail;
  const uint8_t outcome = c.Judge(*oracle, detail);
  ASSERT_LT(outcome, oracle->outcomes.size());
  EXPECT_STREQ(oracle->outcomes[outcome].name, wanted.outcome) << detail;
  EXPECT_THAT(detail, testing::HasSubstr(wanted.detail));
  if (outcome != 0) {
    EXPECT_THAT(detail, testing::Not(testing::AnyOf("", testing::HasSubstr("#"))));
  }
}

// The outcomes that a table provokes, as ORACLE/OUTCOME.
inline std::set<std::string> Provoked(const std::vector<Provocation>& table) {
  std::set<std::string> provoked;
  for (const Provocation& p : table) provoked.insert(std::string(p.oracle) + "/" + p.outcome);
  return provoked;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ORACLES_PROVOCATION_TESTING_H_
