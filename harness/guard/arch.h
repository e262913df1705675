// SPDX-License-Identifier: Apache-2.0
// Registers of a ucontext, by architecture. Apart from a test, only this header chooses code by the
// architecture of the build. Signal-safe: yes.
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

// arch_x86_64.h and arch_aarch64.h each define:
//   kArchName, kHasLinkRegister, kElfMachine (ELF e_machine);
//   Registers ReadContext(const ucontext_t&), void WriteContext(const Registers&, ucontext_t&);
//   uint64_t Argument(const ucontext_t&, int number): at the entry of a C function, its argument
//     `number`, 0 to 3;
//   Registers CallerAtEntry(const ucontext_t&): at the entry of a C function, the caller's
//     registers, with a pc inside of the call instruction;
//   JavaRegisters ReadJavaRegisters(const ucontext_t&): other registers that generated code uses;
//   uint64_t NextByteCode(const ucontext_t&): the byte code that the interpreter is about to begin;
//   uint64_t ThreadPointer(), void SetThreadPointer(uint64_t): base of thread-local storage;
//   uint64_t SignReturnAddress(uint64_t), uint64_t CallByAddress(function, first, second);
//   kHasTrapFlag, SetSingleStep(ucontext_t&, bool): single steps without ptrace;
//   AtCallThatEndsSteps(const ucontext_t&): true if the thread must run without trap flag now;
//   StepFromHere(bool): single steps of the calling thread;
//   NumberOfRegister(name), RegisterAt(context, number), SetRegisterAt(context, number, value);
//   CodeUnit: the unit that one store can write into running code; kTrapCode: a trap instruction of
//     one CodeUnit; kTrapPcAhead: pc at its SIGTRAP = address of the instruction + kTrapPcAhead;
//   bool WriteMovedEntry(entry, code): the function, though its first instruction is replaced.

// Slots of HotSpot's frames, in words from fp, as in frame_x86.hpp and frame_aarch64.hpp of JDK 17
// to 25. The slots of both architectures are here, for walks of either architecture.
struct FrameSlots {
  int entry_wrapper;       // of an entry frame: its JavaCallWrapper
  int interpreter_bcp;     // of an interpreted frame: its byte code pointer
  int interpreter_unused;  // of an interpreted frame: its unused slot; 0: it has none
};
inline constexpr FrameSlots kX86_64Slots{-6, -8, 0}, kAarch64Slots{-8, -9, -5};
// Slot of an interpreted frame's Method*, on both architectures, from JDK 8 on.
inline constexpr int kInterpreterMethodSlot = -3;
inline constexpr FrameSlots kOwnSlots = kHasLinkRegister ? kAarch64Slots : kX86_64Slots;

// The frame record that a frame pointer points to, on both architectures.
struct FrameRecord {
  uint64_t caller_fp;
  uint64_t return_pc;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_H_
