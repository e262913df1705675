// SPDX-License-Identifier: Apache-2.0
// aarch64: see arch.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_ARCH_AARCH64_H_
#define WALKHAMMER_HARNESS_GUARD_ARCH_AARCH64_H_

#include <sys/auxv.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace walkhammer {

inline constexpr const char* kArchName = "aarch64";
inline constexpr bool kHasLinkRegister = true;
inline constexpr int kElfMachine = 183;  // EM_AARCH64

using CodeUnit = uint32_t;
inline constexpr CodeUnit kTrapCode = 0xd4200000;  // brk #0
inline constexpr uint64_t kTrapPcAhead = 0;
inline constexpr uint64_t kSystemCallBytes = 4;  // svc #0

inline Registers ReadContext(const ucontext_t& context) {
  const auto& m = context.uc_mcontext;
  return {m.pc, m.sp, m.regs[29], m.regs[30]};
}

// At a function's entry: its argument `number`, 0 to 3.
inline uint64_t Argument(const ucontext_t& context, int number) {
  return context.uc_mcontext.regs[number];
}

inline Registers CallerAtEntry(const ucontext_t& context) {
  Registers registers = ReadContext(context);
  registers.pc = registers.lr - 4;
  return registers;
}

// Other registers that generated code uses: see WalkStart in harness/asgst/walk. Left out are the
// caller's sp (x13 before JDK 20, x19 since, JDK-8288971), which no code needs, and return
// addresses other than lr, as lr says more.
inline JavaRegisters ReadJavaRegisters(const ucontext_t& context) {
  const auto& regs = context.uc_mcontext.regs;
  return {.byte_code = regs[22], .first_argument = regs[0]};
}

// The bytecode that the interpreter is about to begin, from the register that holds it.
inline uint64_t NextByteCode(const ucontext_t& context) { return context.uc_mcontext.regs[8]; }

inline void WriteContext(const Registers& registers, ucontext_t& context) {
  auto& m = context.uc_mcontext;
  m.pc = registers.pc;
  m.sp = registers.sp;
  m.regs[29] = registers.fp;
  m.regs[30] = registers.lr;
}

inline constexpr bool kHasTrapFlag = false;  // only the kernel can single-step: ptrace
inline void SetSingleStep(ucontext_t&, bool) {}
inline bool IsSingleStep(const ucontext_t&) { return false; }
inline bool AtCallThatEndsSteps(const ucontext_t&) { return false; }
inline void StepFromHere(bool) {}
// Of no use without the trap flag.
inline int NumberOfRegister(std::string_view) { return -1; }
inline uint64_t RegisterAt(const ucontext_t& context, int number) {
  return context.uc_mcontext.regs[number];
}
inline void SetRegisterAt(ucontext_t& context, int number, uint64_t value) {
  context.uc_mcontext.regs[number] = value;
}

// A return address as generated code signs it, with the key of this process and zero as modifier
// (JDK 21: -XX:UseBranchProtection=pac-ret); unchanged where the CPU has no pointer authentication.
inline uint64_t SignReturnAddress(uint64_t address) {
  register uint64_t pointer asm("x17") = address;
  register uint64_t modifier asm("x16") = 0;
  asm("hint #8" : "+r"(pointer) : "r"(modifier));  // pacia1716
  return pointer;
}

// Calls function(first, second) for a function that was not compiled to be called by its address.
// Where branches are guarded (BTI), such a function has no landing pad, so it is entered by a
// return, which needs no landing pad.
inline const bool kBranchesAreGuarded = (getauxval(AT_HWCAP2) & 1UL << 17) != 0;  // HWCAP2_BTI
inline uint64_t CallByAddress(uint64_t function, uint64_t first, uint64_t second) {
  if (!kBranchesAreGuarded)
    return reinterpret_cast<uint64_t (*)(uint64_t, uint64_t)>(function)(first, second);
  register uint64_t x0 asm("x0") = first;
  register uint64_t x1 asm("x1") = second;
  register uint64_t x16 asm("x16") = function;
  asm volatile(
      "adr x30, 1f\n\t"
      "ret x16\n"
      "1:"
      : "+r"(x0), "+r"(x1), "+r"(x16)
      :
      : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
        "x17", "x30", "cc", "memory");
  return x0;
}

// futex(2) without a timeout's remainder and without errno, which another thread may have borrowed
// with this thread's thread-local memory. Signal-safe.
inline void BareFutex(const void* word, int operation, uint32_t value, const void* timeout) {
  register uint64_t x0 asm("x0") = reinterpret_cast<uint64_t>(word);
  register uint64_t x1 asm("x1") = static_cast<uint64_t>(operation);
  register uint64_t x2 asm("x2") = value;
  register uint64_t x3 asm("x3") = reinterpret_cast<uint64_t>(timeout);
  register uint64_t x8 asm("x8") = SYS_futex;
  asm volatile("svc #0" : "+r"(x0) : "r"(x1), "r"(x2), "r"(x3), "r"(x8) : "memory");
}

// The thread pointer: the base of thread-local storage.
inline uint64_t ThreadPointer() {
  uint64_t pointer;
  asm("mrs %0, tpidr_el0" : "=r"(pointer));
  return pointer;
}

inline void SetThreadPointer(uint64_t pointer) {
  asm volatile("msr tpidr_el0, %0" ::"r"(pointer) : "memory");
}

// Not for this architecture yet.
inline constexpr size_t kMovedEntryBytes = 32;
inline bool WriteMovedEntry(uint64_t, uint8_t*) { return false; }
inline constexpr size_t kFarJumpBytes = 16;
inline void WriteFarJump(uint64_t, uint8_t*) {}
inline constexpr CodeUnit kEntryJumpCode = 0;
inline uint64_t EntryJumpTarget(uint64_t) { return 0; }

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_AARCH64_H_
