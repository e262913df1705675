// SPDX-License-Identifier: Apache-2.0
// Frames of a stack as HotSpot's error reporter writes them (vmError.cpp, frame.cpp), a line each.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_
#define WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_

#include <string_view>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

// True for a line that begins like a frame: "V  [", "C  0x", "J 44", "j  a.b()V+0", "v  ~".
bool IsFrame(std::string_view line);

// True for what people write where they leave frames out: "...", "[...]", "[snip]".
bool IsEllipsis(std::string_view line);

// True if the frame's text was cut by a line end: the next line may be the rest of it.
bool IsCutFrame(std::string_view frame);

// Parses a line for which IsFrame holds; what is not understood stays empty.
CrashFrame ParseFrame(std::string_view text, int line);

// Notes which frames are those of signal handling, by their symbols and their neighbours.
void MarkSignalFrames(CrashStack& stack);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_FRAMES_H_
