// SPDX-License-Identifier: Apache-2.0
// SignalFrame: what the kernel puts on a thread's stack for a signal, and the code that the
// signal's handler returns to. HotSpot's own handlers run so for implicit null checks, for polls
// and where a stack overflows. Source: Linux, arch/x86/include/asm/sigframe.h,
// arch/arm64/kernel/signal.c. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_SIGNAL_FRAME_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_SIGNAL_FRAME_H_

#include <cstdint>

#include "harness/base/trace.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

struct SignalFrame {
  Registers registers;  // where the thread was interrupted
  JavaRegisters java;
};

// False if `pc` is not where signal handlers return to, or if memory cannot be read. `sp`: after
// that return.
bool ReadSignalFrameX86(const MemoryReader& memory, uint64_t pc, uint64_t sp, SignalFrame& frame);
bool ReadSignalFrameAarch64(const MemoryReader& memory, uint64_t pc, uint64_t sp,
                            SignalFrame& frame);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_SIGNAL_FRAME_H_
