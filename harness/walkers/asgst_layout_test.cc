// SPDX-License-Identifier: Apache-2.0
// The probe of AsyncGetStackTrace, against functions that follow a layout, or nearly follow one.
#include "harness/walkers/asgst_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace walkhammer {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

int methods[2];
const KnownFrames kKnown{reinterpret_cast<jmethodID>(&methods[0]),
                         reinterpret_cast<jmethodID>(&methods[1]), 4};

// A layout, in bytes, and what a function does with it.
struct Planted {
  int frames_word = 1;         // of the trace: the pointer to the frames
  int kind_bytes = 0;          // at byte 4; 0: there is no kind
  uint32_t kind = 0;           // what a Java trace has
  int state_bytes = 0;         // at byte 8
  int count_at = 0;            // of num_frames
  jint count = 2;              // what it answers
  int frame_bytes = 16;        // from frame to frame
  int bci_at = 2;              // in a frame
  int method_at = 8;           // in a frame
  uint8_t java = 1;            // type
  uint8_t native = 3;          // type
  uint8_t level = 0;           //
  int bci = 4;                 //
  int more_frames = 0;         // written, but not counted
  int stray_word = 0;          // of the trace, written though it is none of this layout's
  int second_word = 0;         // of the trace: something is written where this word points, too
  bool moves_pointer = false;  // to the frames, as an iterator of frames might
  uint32_t wants_options = 0;  // else it answers kAsgstNoThread
};
Planted planted;

template <typename T>
void Put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

void Follow(void* to, jint, void*, uint32_t options) {
  auto* trace = static_cast<uint8_t*>(to);
  const Planted& p = planted;
  if ((options & p.wants_options) != p.wants_options) {
    Put<jint>(trace, kAsgstNoThread);
    return;
  }
  uint8_t* frames = nullptr;
  std::memcpy(&frames, trace + 8 * p.frames_word, sizeof frames);
  for (int i = 0; i < p.count + p.more_frames; i++) {
    uint8_t* frame = frames + i * p.frame_bytes;
    const bool native = i == 0;
    frame[0] = native ? p.native : p.java;
    frame[1] = p.level;
    Put<uint16_t>(frame + p.bci_at, native ? 65535 : static_cast<uint16_t>(p.bci));
    Put(frame + p.method_at, native ? kKnown.native : kKnown.caller);
  }
  Put<jint>(trace + p.count_at, p.count);
  std::memcpy(trace + 4, &p.kind, static_cast<size_t>(p.kind_bytes));
  const uint64_t state = 5;
  std::memcpy(trace + 8, &state, static_cast<size_t>(p.state_bytes));
  if (p.stray_word != 0) Put<uint64_t>(trace + 8 * p.stray_word, 1);
  if (p.second_word != 0) {
    uint8_t* second = nullptr;
    std::memcpy(&second, trace + 8 * p.second_word, sizeof second);
    *second = 1;
  }
  if (p.moves_pointer) Put(trace + 8 * p.frames_word, frames + p.frame_bytes);
}

const Planted kDraft{};
const Planted kEarly{.kind_bytes = 1};
const Planted kLate{.frames_word = 2,
                    .kind_bytes = 1,
                    .kind = kAsgstJava,
                    .state_bytes = 4,
                    .wants_options = kAsgstSameThread};

Result<AsgstLayout> Probe(const Planted& what) {
  planted = what;
  return ProbeAsgst(Follow, kKnown, nullptr);
}

std::string Refusal(Planted from, void (*change)(Planted&)) {
  change(from);
  auto found = Probe(from);
  if (found.ok()) return "taken for layout " + std::to_string(static_cast<int>(found.value()));
  EXPECT_EQ(found.failure().code, ExitCode::kUnable);
  return found.failure().message;
}

void ExpectLayout(const Planted& what, AsgstLayout layout) {
  auto found = Probe(what);
  ASSERT_TRUE(found.ok()) << found.failure().message;
  EXPECT_EQ(found.value(), layout);
}

TEST(AsgstLayout, TellsTheThreeApart) {
  ExpectLayout(kDraft, AsgstLayout::kDraft);
  ExpectLayout(kEarly, AsgstLayout::kEarly);
  ExpectLayout(kLate, AsgstLayout::kLate);
}

TEST(AsgstLayout, WhatAnImplementationMayDoOtherwiseIsNoOtherLayout) {
  Planted p = kDraft;
  p.stray_word = 2;  // frame_info
  ExpectLayout(p, AsgstLayout::kDraft);
  p = kEarly;
  p.kind = 4;
  p.level = 4;
  ExpectLayout(p, AsgstLayout::kEarly);
  p = kLate;
  p.stray_word = 3;  // frame_info
  p.kind = kAsgstJava | kAsgstDeopt;
  p.java = 2;  // inlined
  p.level = 0xff;
  ExpectLayout(p, AsgstLayout::kLate);
}

TEST(AsgstLayout, FramesMustBeThoseOfTheApi) {
  for (const Planted& from : {kDraft, kEarly, kLate}) {
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.frame_bytes = 24; }), HasSubstr("behind them"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.more_frames = 1; }), HasSubstr("behind them"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.bci = 5; }), HasSubstr("bytecode index 4 is"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.bci_at = 4; }), HasSubstr("bytecode index 4 is"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.java = 0; }), HasSubstr("bytecode index 4 is"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.level = 5; }), HasSubstr("bytecode index 4 is"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.native = 4; }),
                ContainsRegex("type 3 is [0-9a-f]{16} [0-9a-f]{16}"));
    EXPECT_THAT(Refusal(from,
                        [](Planted& p) {
                          p.method_at = 0;
                          p.bci_at = 8;
                        }),
                HasSubstr("no frame holds the known method"));
  }
}

TEST(AsgstLayout, TheTraceMustBeOfOneOfTheThree) {
  for (const Planted& from : {kDraft, kEarly, kLate}) {
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.frames_word = 3; }), HasSubstr("word 3"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.count_at = 40; }), HasSubstr("was not written"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.stray_word = 4; }), HasSubstr("behind the trace"));
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.moves_pointer = true; }), HasSubstr("pointer"));
    EXPECT_THAT(Refusal(from,
                        [](Planted& p) {
                          p.kind_bytes = 4;
                          p.kind = 1;
                        }),
                HasSubstr("no kind of one byte"));
  }
  // A word that only a longer trace has.
  for (const Planted& from : {kDraft, kEarly})
    EXPECT_THAT(Refusal(from, [](Planted& p) { p.stray_word = 3; }), HasSubstr("3 words"));
}

TEST(AsgstLayout, ThePrototypesMustFillInWhatTheyAdd) {
  EXPECT_THAT(Refusal(kEarly, [](Planted& p) { p.kind = 5; }), HasSubstr("kind became 5"));
  EXPECT_THAT(Refusal(kLate, [](Planted& p) { p.kind_bytes = 0; }), HasSubstr("kind became 0"));
  EXPECT_THAT(Refusal(kLate, [](Planted& p) { p.kind = 64; }), HasSubstr("kind became 64"));
  EXPECT_THAT(Refusal(kLate, [](Planted& p) { p.state_bytes = 0; }), HasSubstr("no state"));
  EXPECT_THAT(Refusal(kLate, [](Planted& p) { p.state_bytes = 8; }), HasSubstr("between"));
}

TEST(AsgstLayout, AnAnswerWithoutFramesShowsNothing) {
  EXPECT_THAT(Refusal(kLate, [](Planted& p) { p.wants_options |= 0x100; }),
              HasSubstr("answered -11"));
  EXPECT_THAT(Refusal(kDraft, [](Planted& p) { p.count = 0; }), HasSubstr("answered 0"));
  EXPECT_THAT(Refusal(kDraft, [](Planted& p) { p.count = 17; }), HasSubstr("more frames"));
  EXPECT_THAT(Refusal(kDraft, [](Planted& p) { p.frame_bytes = 0; }), HasSubstr("wrote fewer"));
  EXPECT_THAT(Refusal(kDraft, [](Planted& p) { p.more_frames = -2; }), HasSubstr("no frames"));
  EXPECT_THAT(Refusal(kDraft, [](Planted& p) { p.second_word = 2; }), HasSubstr("words 1 and 2"));
}

}  // namespace
}  // namespace walkhammer
