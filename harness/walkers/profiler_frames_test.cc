// SPDX-License-Identifier: Apache-2.0
// What is kept of the frames that a profiler's walker writes.
#include "harness/walkers/profiler_frames.h"

#include <gtest/gtest.h>

#include <vector>

namespace walkhammer {
namespace {

constexpr jint kError = -18;

char method_names[3];
jmethodID Method(int i) { return reinterpret_cast<jmethodID>(method_names + i); }
bool IsNative(void* method) { return method == method_names + 2; }

// FrameType::encode of vmEntry.h
jint Encoded(int type, int bci) {
  return static_cast<jint>(1u << 24 | static_cast<uint32_t>(type) << 25 |
                           (static_cast<uint32_t>(bci) & 0xffffff));
}

std::vector<Frame> kept;  // what the last Kept has kept

Trace Kept(const ProfilerFrames& kind, std::vector<AgctFrame> frames, int depth = 10) {
  static_assert(sizeof(AgctFrame) == sizeof(Frame));
  Trace trace{};
  frames.resize(10);
  int count = 0;
  while (count < 10 && frames[static_cast<size_t>(count)].method_id != nullptr) count++;
  kind.Keep(frames.data(), count, depth, IsNative, trace);
  const auto* first = reinterpret_cast<const Frame*>(frames.data());
  kept.assign(first, first + std::max(trace.num_frames, 0));
  return trace;
}

TEST(ProfilerFrames, KeepTheJavaFrames) {
  const Trace trace = Kept(kVmFrames, {{-10, Method(0)},  // native code
                                       {Encoded(1, 5), Method(0)},
                                       {Encoded(2, -1), Method(1)},
                                       {Encoded(3, 7), Method(2)}});
  ASSERT_EQ(trace.num_frames, 3);
  EXPECT_EQ(kept[0].bci, 5);
  EXPECT_EQ(kept[0].method, method_names);
  EXPECT_EQ(kept[0].kind, 0) << "nobody else tells such kinds";
  EXPECT_EQ(kept[1].bci, -1);
  EXPECT_EQ(kept[2].bci, kAgctNativeBci);
  EXPECT_EQ(kept[2].kind, 0);
  EXPECT_FALSE(trace.ended_on_request);
  EXPECT_FALSE(trace.broke_off);
  EXPECT_EQ(trace.end, WalkEnd::kWhole);
}

TEST(ProfilerFrames, AContinuationsRootEndsTheStackOnRequest) {
  auto native = [](const char* text) {
    return AgctFrame{-11, reinterpret_cast<jmethodID>(const_cast<char*>(text))};
  };
  Trace trace = Kept(kVmFrames, {{Encoded(1, 5), Method(0)}, native("JVM Continuation")});
  EXPECT_EQ(trace.num_frames, 1);
  EXPECT_TRUE(trace.ended_on_request);
  EXPECT_FALSE(trace.broke_off);
  trace = Kept(kVmFrames, {{Encoded(1, 5), Method(0)}, native("start_thread")});
  EXPECT_FALSE(trace.ended_on_request);
}

TEST(ProfilerFrames, PlainOnesAreThoseOfAsyncGetCallTrace) {
  const ProfilerFrames plain{{}, {"?", -9, WalkEnd::kUnreadable}, false};
  const Trace trace =
      Kept(plain, {{5, Method(0)}, {-9, Method(1)}, {-10, Method(1)}, {-3, Method(2)}});
  ASSERT_EQ(trace.num_frames, 3);
  EXPECT_EQ(kept[0].bci, 5);
  EXPECT_EQ(kept[1].bci, -9);
  EXPECT_EQ(kept[2].bci, kAgctNativeBci);
}

TEST(ProfilerFrames, AnErrorEndsTheWalkOrIsTheAnswer) {
  auto error = [](const char* text) {
    return AgctFrame{kError, reinterpret_cast<jmethodID>(const_cast<char*>(text))};
  };
  Trace trace = Kept(kVmFrames, {{Encoded(1, 5), Method(0)}, error("break_deopt")});
  EXPECT_EQ(trace.num_frames, 1);
  EXPECT_TRUE(trace.broke_off);
  EXPECT_EQ(trace.end, WalkEnd::kDeopt);
  trace = Kept(kVmFrames, {error("break_interpreted")});
  EXPECT_EQ(trace.num_frames, -5);
  EXPECT_EQ(trace.end, WalkEnd::kNoMethod);
  trace = Kept(kVmFrames, {error("a new one")});
  EXPECT_EQ(trace.num_frames, -9);
  EXPECT_EQ(trace.end, WalkEnd::kUnreadable);
}

TEST(ProfilerFrames, AFullBufferEndsTheWalk) {
  const std::vector<AgctFrame> two = {{Encoded(1, 5), Method(0)}, {Encoded(1, 6), Method(1)}};
  Trace trace = Kept(kVmFrames, two, 2);
  EXPECT_EQ(trace.num_frames, 2);
  EXPECT_TRUE(trace.ended_on_request);
  EXPECT_EQ(trace.end, WalkEnd::kDepth);
  EXPECT_FALSE(Kept(kVmFrames, two, 3).ended_on_request);
  trace = Kept(kVmFrames, two, 1);
  EXPECT_EQ(trace.num_frames, 2) << "more than fit: for the oracle frame-count";
  EXPECT_FALSE(trace.ended_on_request);
}

}  // namespace
}  // namespace walkhammer
