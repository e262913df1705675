// SPDX-License-Identifier: Apache-2.0
// What depends on the CPU architecture: registers of a ucontext, trap instructions, single steps,
// thread pointer. This header includes that of the build's architecture. Signal-safe: yes.
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
//   uint64_t Argument(const ucontext_t&, int number): argument `number`, 0 to 3, of a C function;
//     valid only at the function's entry;
//   Registers CallerAtEntry(const ucontext_t&): at the entry of a C function, the caller's
//     registers; their pc is inside of the call instruction;
//   JavaRegisters ReadJavaRegisters(const ucontext_t&): other registers that generated code uses;
//   uint64_t NextByteCode(const ucontext_t&): the bytecode that the interpreter is about to
//     dispatch, from the register that holds it;
//   uint64_t ThreadPointer(), void SetThreadPointer(uint64_t): base of thread-local storage;
//   uint64_t SignReturnAddress(uint64_t address): the address as generated code signs it;
//   uint64_t CallByAddress(function, first, second): calls a function that need not be a valid
//     target of indirect branches;
//   void BareFutex(word, operation, value, timeout): futex(2) without errno;
//   kSystemCallBytes: length of a system call instruction;
//   kHasTrapFlag, SetSingleStep(ucontext_t&, bool), IsSingleStep(const ucontext_t&): single steps
//     without ptrace;
//   AtCallThatEndsSteps(const ucontext_t&): true if the next instruction is a system call before
//     which the trap flag must be cleared;
//   StepFromHere(bool): sets or clears the trap flag of the calling thread;
//   NumberOfRegister(name), RegisterAt(context, number), SetRegisterAt(context, number, value):
//     general-purpose registers, by Capstone's name of the full width; -1: no such register, or no
//     trap flag;
//   CodeUnit: the unit that one store can write into running code; kTrapCode: a trap instruction of
//     one CodeUnit; kTrapPcAhead: pc at its SIGTRAP = address of the instruction + kTrapPcAhead;
//   bool WriteMovedEntry(entry, code): writes kMovedEntryBytes of code that run the function at
//     `entry`, whose first instruction may then be overwritten; false: impossible;
//   WriteFarJump(to, code): writes kFarJumpBytes of code that go on at `to`;
//   kEntryJumpCode, EntryJumpTarget(entry): the one CodeUnit that makes the begin of a function a
//     jump, and where that leads.

// Slots of HotSpot's frames, in words from fp, as in frame_x86.hpp and frame_aarch64.hpp of JDK 17
// to 25. Both architectures are here, because a build for either one also walks stacks of the
// other.
struct FrameSlots {
  int entry_wrapper;       // of an entry frame: its JavaCallWrapper
  int interpreter_bcp;     // of an interpreted frame: its bytecode pointer
  int interpreter_unused;  // of an interpreted frame: its unused slot; 0: it has none
};
inline constexpr FrameSlots kX86_64Slots{-6, -8, 0}, kAarch64Slots{-8, -9, -5};
// Slot of an interpreted frame's Method*, on both architectures, since JDK 8.
inline constexpr int kInterpreterMethodSlot = -3;
inline constexpr FrameSlots kOwnSlots = kHasLinkRegister ? kAarch64Slots : kX86_64Slots;

// The frame record that a frame pointer points to, on both architectures.
struct FrameRecord {
  uint64_t caller_fp;
  uint64_t return_pc;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_H_
