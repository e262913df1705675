// SPDX-License-Identifier: Apache-2.0
// Registers of a ucontext, by architecture. With guard/breakpoint code the only place that names
// an architecture. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_ARCH_H_
#define WALKHAMMER_HARNESS_GUARD_ARCH_H_

#include <ucontext.h>  // IWYU pragma: keep

#include "harness/base/trace.h"  // IWYU pragma: keep

#if defined(__x86_64__)
#include "harness/guard/arch_x86_64.h"  // IWYU pragma: export
#elif defined(__aarch64__)
#include "harness/guard/arch_aarch64.h"  // IWYU pragma: export
#else
#error "walkhammer knows x86_64 and aarch64"
#endif

namespace walkhammer {

// arch_*.h define: kArchName, kHasLinkRegister, kElfMachine (ELF e_machine),
//   Registers ReadContext(const ucontext_t&);
//   uint64_t Argument(const ucontext_t&, int), from 0 to 3, and Registers CallerAtEntry(const
//   ucontext_t&), its pc inside of the call: at the entry of a function of the C ABI;
//   JavaRegisters ReadJavaRegisters(const ucontext_t&): what generated code keeps
//   there; uint64_t NextByteCode(const ucontext_t&): and the interpreter; void
//   WriteContext(const Registers&, ucontext_t&); uint64_t ThreadPointer(), void
//   SetThreadPointer(uint64_t): what thread-local storage hangs on; uint64_t
//   SignReturnAddress(uint64_t); uint64_t CallByAddress(function, first, second); kHasTrapFlag,
//   SetSingleStep(ucontext_t&, bool): single steps without ptrace; AtCallThatEndsSteps(const
//   ucontext_t&): the thread must run without its trap flag now; CodeUnit: what can be written into
//   running code at once; kTrapCode: a trap instruction, one CodeUnit long; kTrapPcAhead: how far
//   behind that instruction's address the pc stands when its SIGTRAP comes.

// Slots of HotSpot's frames, in words from fp: frame_x86.hpp and frame_aarch64.hpp, the same from
// JDK 17 to 25. Of both architectures, for walks that are of either.
struct FrameSlots {
  int entry_wrapper;       // of an entry frame: its JavaCallWrapper
  int interpreter_bcp;     // of an interpreted frame: its byte code pointer
  int interpreter_unused;  // 0: all are in use
};
inline constexpr FrameSlots kX86_64Slots{-6, -8, 0}, kAarch64Slots{-8, -9, -5};
// Of an interpreted frame: its Method*. Of both architectures, from JDK 8 on.
inline constexpr int kInterpreterMethodSlot = -3;
inline constexpr FrameSlots kOwnSlots = kHasLinkRegister ? kAarch64Slots : kX86_64Slots;

// The frame record that both architectures' frame pointers lead to.
struct FrameRecord {
  uint64_t caller_fp;
  uint64_t return_pc;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_H_
