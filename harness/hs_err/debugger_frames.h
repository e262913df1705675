// SPDX-License-Identifier: Apache-2.0
// Frames of a stack as others than HotSpot write them, a line each: gdb, lldb, coredumpctl,
// eu-stack, AddressSanitizer, minidump-stackwalk, Apple's crash reporter, OpenJ9. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_FRAMES_H_
#define WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_FRAMES_H_

#include <optional>
#include <string_view>

#include "harness/hs_err/crash_report.h"

namespace walkhammer {

struct DebuggerFrame {
  CrashText writer = CrashText::kNone;
  int64_t number = 0;  // 0: the innermost; -1: javacores do not number
  CrashFrame frame;    // without a line
};

// Returns none if the text does not begin like such a frame. What is not understood stays empty.
std::optional<DebuggerFrame> ParseDebuggerFrame(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_DEBUGGER_FRAMES_H_
