// SPDX-License-Identifier: Apache-2.0
// Parses stack frames as HotSpot's error reporter prints them (vmError.cpp, frame.cpp), one a line.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_
#define WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_

#include <string_view>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// True if the line begins like a frame: "V  [", "C  0x", "J 44", "j  a.b()V+0", "v  ~".
bool IsFrame(std::string_view line);

// True if the line marks omitted frames: "...", "[...]", "[snip]".
bool IsEllipsis(std::string_view line);

// True if the frame seems to be cut off by a line break, so that the next line may be its rest.
bool IsCutFrame(std::string_view frame);

// Parses a line for which IsFrame is true. `line`: its number in the log, from 1. Fields that
// cannot be parsed stay empty.
CrashFrame ParseFrame(std::string_view text, int line);

// Finds the frames through which the kernel returns from a signal handler, by their symbols and
// their neighbours. Makes them kSignalHandler and lists them in stack.signal_frames.
void MarkSignalFrames(CrashStack& stack);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_
