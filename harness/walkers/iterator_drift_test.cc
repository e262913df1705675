// SPDX-License-Identifier: Apache-2.0
// The probe of the ASGST iterator, against builds that differ from the proposal; what ends a walk.
#include "harness/walkers/iterator_drift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "harness/walkers/iterated_frame.h"

namespace walkhammer {
namespace {

using ::testing::HasSubstr;

int ids[2], opaque[2];
const KnownFrames kKnownIterated{reinterpret_cast<jmethodID>(&ids[0]),
                                 reinterpret_cast<jmethodID>(&ids[1]), 4};

// What a build does.
struct PlantedIterator {
  int refuses = 0;  // answers this instead of walking; 0: walks
  bool holds_ids = false;
  int first_answer = 1;  // of NextFrame
  bool writes_behind = false;
  uint8_t java = ASGST_FRAME2_JAVA;
  int bci = 4;
  bool other_methods = false;
};
PlantedIterator planted_iterator;
int next = 0;

int Run(void*, int32_t, ASGST_IteratorHandler fun, void* argument) {
  if (planted_iterator.refuses != 0) return planted_iterator.refuses;
  next = 0;
  fun(nullptr, argument);
  return ASGST_JAVA_TRACE;
}

int NextFrame(ASGST_Iterator*, ASGST_Frame* frame) {
  if (next == 0 && planted_iterator.first_answer != 1) return planted_iterator.first_answer;
  if (next == 2) return ASGST_NO_FRAME;
  const bool native = next == 0;
  *frame = {};
  frame->type = native ? static_cast<uint8_t>(ASGST_FRAME2_JAVA_NATIVE) : planted_iterator.java;
  frame->bci = native ? -1 : planted_iterator.bci;
  void* method = planted_iterator.holds_ids ? static_cast<void*>(&ids[next]) : &opaque[next];
  frame->method =
      static_cast<ASGST_Method>(planted_iterator.other_methods ? &planted_iterator : method);
  if (planted_iterator.writes_behind) std::memset(static_cast<void*>(frame + 1), 0, 8);
  next++;
  return 1;
}

// Does not read what is not a method, like a real MethodToJMethodID.
jmethodID IdOf(ASGST_Method method) {
  for (int i = 0; i < 2; i++)
    if (method == static_cast<void*>(&opaque[i])) return reinterpret_cast<jmethodID>(&ids[i]);
  EXPECT_NE(method, static_cast<void*>(&ids[0])) << "an id was handed over as a method";
  EXPECT_NE(method, static_cast<void*>(&ids[1])) << "an id was handed over as a method";
  return nullptr;
}

Result<bool> ProbePlanted(const PlantedIterator& what, bool converts = true) {
  planted_iterator = what;
  IteratorApi api;
  api.run = Run;
  api.next = NextFrame;
  api.id_of = converts ? IdOf : nullptr;
  return ProbeIteratorMethods(api, kKnownIterated, nullptr);
}

std::string DriftRefusal(void (*change)(PlantedIterator&), bool converts = true) {
  PlantedIterator p;
  change(p);
  auto found = ProbePlanted(p, converts);
  if (found.ok()) return "taken";
  EXPECT_EQ(found.failure().code, ExitCode::kUnable);
  return found.failure().message;
}

TEST(IteratorDrift, TellsMethodsFromIds) {
  PlantedIterator p;
  auto found = ProbePlanted(p);
  ASSERT_TRUE(found.ok()) << found.failure().message;
  EXPECT_FALSE(found.value());
  p.holds_ids = true;
  for (bool converts : {false, true}) {
    found = ProbePlanted(p, converts);
    ASSERT_TRUE(found.ok()) << found.failure().message;
    EXPECT_TRUE(found.value());
  }
}

TEST(IteratorDrift, RefusesWhatFitsNeither) {
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.refuses = -3; }), HasSubstr("answered -3"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.first_answer = -4; }),
              HasSubstr("NextFrame answered -4"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.writes_behind = true; }),
              HasSubstr("48 bytes"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.java = 4; }), HasSubstr("2 frames none"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.java = 0; }), HasSubstr("type 0"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.bci = 0; }), HasSubstr("bci 0"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator& p) { p.other_methods = true; }),
              HasSubstr("2 frames none"));
  EXPECT_THAT(DriftRefusal([](PlantedIterator&) {}, false), HasSubstr("no MethodToJMethodID"));
}

TEST(IteratedFrame, WhatEndsAWalk) {
  const ASGST_Frame nothing{};
  ASGST_Frame place{};
  place.type = ASGST_FRAME2_JAVA;
  EXPECT_TRUE(EndedByOption(ASGST_NO_FRAME, place));
  EXPECT_FALSE(EndedByOption(ASGST_NO_FRAME, nothing)) << "the end of the stack";
  EXPECT_FALSE(EndedByOption(ASGST_BROKEN_STACK, nothing));
  EXPECT_FALSE(EndedByOption(1, place)) << "the buffer is full";
}

TEST(IteratorDrift, OlderErrorsBecomeTheNewerOnes) {
  EXPECT_EQ(NewerIteratorError(-5), ASGST_NO_TOP_JAVA_FRAME);
  EXPECT_EQ(NewerIteratorError(-6), ASGST_ENQUEUE_NO_QUEUE);
  EXPECT_EQ(NewerIteratorError(-7), ASGST_ENQUEUE_FULL_QUEUE);
  EXPECT_EQ(NewerIteratorError(-4), kOlderNoClassLoad);
  for (int same : {-3, -2, -1, 0, 1, 12}) EXPECT_EQ(NewerIteratorError(same), same);
}

}  // namespace
}  // namespace walkhammer
