// SPDX-License-Identifier: Apache-2.0
// Which frames of a stack are the kernel's return from a signal handler. The C library's restorer
// is not a function of its dynamic symbols, so the JVM names the one before it, or none.
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/frames.h"

namespace walkhammer {
namespace {

struct Restorer {
  std::string_view symbol;
  uint64_t least, most;  // offset from the symbol, in bytes
};

// What dladdr tells for the restorer, as logs of the C libraries have it.
constexpr Restorer kRestorers[] = {
    {"__restore_rt", 0, 16},
    {"__kernel_rt_sigreturn", 0, 64},  // aarch64's vdso
    {"_sigtramp", 0, 512},             // macOS
    {"__sigaction", 0x40, 0x60},       // glibc 2.35
    {"__libc_sigaction", 0x40, 0x60},
    {"killpg", 0x30, 0x50},       // glibc 2.27
    {"funlockfile", 0x40, 0x70},  // glibc 2.31, libpthread
};

bool IsNamedRestorer(const CrashFrame& frame) {
  for (const Restorer& row : kRestorers) {
    if (frame.symbol != row.symbol) continue;
    if (!frame.symbol_offset) return true;
    return *frame.symbol_offset >= row.least && *frame.symbol_offset <= row.most;
  }
  return false;
}

bool IsInLibc(const CrashFrame& frame) {
  return frame.kind == CrashFrameKind::kNative &&
         (frame.module.starts_with("libc.so") || frame.module.starts_with("libc-2.") ||
          frame.module.starts_with("libpthread") || frame.module.starts_with("libc.musl") ||
          frame.module.starts_with("ld-musl"));
}

// True if the name is one of a signal handler: "JVM_handle_linux_signal", "Profiler::trapHandler".
bool IsNamedHandler(const CrashFrame& frame) {
  std::string lower;
  for (const char c : frame.symbol.substr(0, frame.symbol.find('('))) lower += LowerCase(c);
  for (const std::string_view part : {"handler", "sighandl", "handle_linux_signal", "signal_handle",
                                      "sigprof", "onsignal", "signalhandle"})
    if (lower.find(part) != std::string::npos) return true;
  return false;
}

// True if a frame of the C library without a name, between these, can only be the restorer: Java
// code and stubs call no C library, and a handler is called by nothing else.
bool IsBetweenHandlerAndInterrupted(const CrashFrame& inner, const CrashFrame& outer) {
  if (IsInLibc(inner) || inner.is_java()) return false;
  const bool is_generated = outer.module.empty() && outer.symbol.empty();  // others name no stubs
  return outer.is_java() || outer.kind == CrashFrameKind::kStub || is_generated ||
         IsNamedHandler(inner);
}

}  // namespace

void MarkSignalFrames(CrashStack& stack) {
  stack.signal_frames.clear();
  for (size_t i = 0; i < stack.frames.size(); i++) {
    CrashFrame& frame = stack.frames[i];
    const bool unnamed = IsInLibc(frame) && frame.symbol.empty() && i > 0 &&
                         i + 1 < stack.frames.size() &&
                         IsBetweenHandlerAndInterrupted(stack.frames[i - 1], stack.frames[i + 1]);
    if (frame.kind != CrashFrameKind::kSignalHandler && !IsNamedRestorer(frame) && !unnamed)
      continue;
    frame.kind = CrashFrameKind::kSignalHandler;
    stack.signal_frames.push_back(i);
  }
}

}  // namespace walkhammer
