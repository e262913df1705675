// SPDX-License-Identifier: Apache-2.0
// Frames as HotSpot lays them out, written onto the empty stack of the scene `sampled`: what a
// crash report does not show of a stack has to be made up. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_FORGED_FRAMES_H_
#define WALKHAMMER_HARNESS_CRASH_FORGED_FRAMES_H_

#include <cstdint>
#include <string>

#include "harness/crash/walk_text.h"

namespace walkhammer {

// The youngest frame begins here: where a snapshot puts a sample's sp.
inline constexpr int32_t kForgedSp = 0x8000;

// An interpreted frame. Offsets: frame_x86.hpp and frame_aarch64.hpp, interpreter_frame_*_offset,
// JDK 8 to 28.
struct InterpretedFrame {
  int32_t fp = 0;      // slot to which fp points
  int32_t caller = 0;  // slot to which the caller's fp points
  std::string method, bcp;
  std::string link, sender_sp;  // empty: as a sound frame has them
  std::string return_pc;
  std::string cache = "metaspace+0x1000";
};

// Writes the frame. `feature`: of the JDK, 8 and later: JDK 8 keeps no mirror.
void WriteInterpreted(const InterpretedFrame& frame, int feature, WalkText& walk);
// Slot of the word with the frame's Method.
inline int32_t MethodSlot(int32_t fp) { return fp - 0x18; }
// Lowest slot that the frame uses: its sp may be here.
inline int32_t LowestSlot(int32_t fp) { return fp - 0x60; }

// A codelet that is the return address of a call from interpreted code in each JDK. Its exact
// return point differs by build.
std::string CallCodelet();
// A method that each JVM of walkhammer has, and its byte codes.
std::string KnownMethod(int64_t addend = 0);
std::string KnownBytecodes();
std::string KnownCode(uint64_t offset);  // compiled by C2

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_FORGED_FRAMES_H_
