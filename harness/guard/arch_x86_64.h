// SPDX-License-Identifier: Apache-2.0
// x86_64: see arch.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_
#define WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_

#include <asm/prctl.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace walkhammer {

inline constexpr const char* kArchName = "x86_64";
inline constexpr bool kHasLinkRegister = false;
inline constexpr int kElfMachine = 62;  // EM_X86_64

// The unit in which code is written, and a trap instruction of one unit: pc at its SIGTRAP =
// address of the instruction + kTrapPcAhead.
using CodeUnit = uint8_t;
inline constexpr CodeUnit kTrapCode = 0xcc;  // int3
inline constexpr uint64_t kTrapPcAhead = 1;
inline constexpr uint64_t kSystemCallBytes = 2;  // syscall, int 0x80

inline Registers ReadContext(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  return {static_cast<uint64_t>(g[REG_RIP]), static_cast<uint64_t>(g[REG_RSP]),
          static_cast<uint64_t>(g[REG_RBP]), 0};
}

// At a function's entry: its argument `number`, 0 to 3.
inline uint64_t Argument(const ucontext_t& context, int number) {
  constexpr int kArguments[] = {REG_RDI, REG_RSI, REG_RDX, REG_RCX};
  return static_cast<uint64_t>(context.uc_mcontext.gregs[kArguments[number]]);
}

inline Registers CallerAtEntry(const ucontext_t& context) {
  Registers registers = ReadContext(context);
  registers.pc = *reinterpret_cast<const uint64_t*>(registers.sp) - 1;
  registers.sp += 8;
  return registers;
}

// Other registers that generated code uses: see WalkStart in harness/asgst/walk.
inline JavaRegisters ReadJavaRegisters(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  const auto at = [&](int number) { return static_cast<uint64_t>(g[number]); };
  return {at(REG_R13),
          at(REG_R13),
          at(REG_RAX),
          at(REG_RDX),
          at(REG_RDI),
          {at(REG_RAX), at(REG_RCX), at(REG_RDX), at(REG_RBX), at(REG_RSP), at(REG_RBP),
           at(REG_RSI), at(REG_RDI), at(REG_R8), at(REG_R9), at(REG_R10), at(REG_R11), at(REG_R12),
           at(REG_R13), at(REG_R14), at(REG_R15)},
          at(REG_EFL)};
}

// The bytecode that the interpreter is about to begin, from the register that holds it.
inline uint64_t NextByteCode(const ucontext_t& context) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RBX]);
}

inline void WriteContext(const Registers& registers, ucontext_t& context) {
  auto& g = context.uc_mcontext.gregs;
  g[REG_RIP] = static_cast<greg_t>(registers.pc);
  g[REG_RSP] = static_cast<greg_t>(registers.sp);
  g[REG_RBP] = static_cast<greg_t>(registers.fp);
}

// The trap flag: a SIGTRAP (TRAP_TRACE) after each instruction, once the handler has returned.
inline constexpr bool kHasTrapFlag = true;
inline constexpr greg_t kTrapFlag = 0x100;
inline void SetSingleStep(ucontext_t& context, bool on) {
  auto& flags = context.uc_mcontext.gregs[REG_EFL];
  flags = on ? flags | kTrapFlag : flags & ~kTrapFlag;
}
inline bool IsSingleStep(const ucontext_t& context) {
  return (context.uc_mcontext.gregs[REG_EFL] & kTrapFlag) != 0;
}

// Sets or clears the calling thread's own trap flag: the SIGTRAPs begin or end with the caller.
inline __attribute__((always_inline)) void StepFromHere(bool on) {
  // Below the red zone, which the pushes would overwrite.
  if (on)
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\t"
        "lea 128(%%rsp), %%rsp" ::
            : "cc", "memory");
  else
    asm volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\t"
        "lea 128(%%rsp), %%rsp" ::
            : "cc", "memory");
}

// A register of general purpose by its number in the ucontext; NumberOfRegister: by Capstone's name
// of its full width, -1 if it has no number.
inline int NumberOfRegister(std::string_view name) {
  constexpr struct {
    std::string_view name;
    int number;
  } kNumbers[] = {{"rax", REG_RAX}, {"rbx", REG_RBX}, {"rcx", REG_RCX}, {"rdx", REG_RDX},
                  {"rsi", REG_RSI}, {"rdi", REG_RDI}, {"rbp", REG_RBP}, {"rsp", REG_RSP},
                  {"r8", REG_R8},   {"r9", REG_R9},   {"r10", REG_R10}, {"r11", REG_R11},
                  {"r12", REG_R12}, {"r13", REG_R13}, {"r14", REG_R14}, {"r15", REG_R15}};
  for (const auto& known : kNumbers)
    if (known.name == name) return known.number;
  return -1;
}
inline uint64_t RegisterAt(const ucontext_t& context, int number) {
  return static_cast<uint64_t>(context.uc_mcontext.gregs[number]);
}
inline void SetRegisterAt(ucontext_t& context, int number, uint64_t value) {
  context.uc_mcontext.gregs[number] = static_cast<greg_t>(value);
}

// True if the next instruction is a system call that a thread cannot make with its trap flag set: a
// call that blocks SIGTRAP, so that the next step would end the process, or a call that creates a
// thread, or creates or replaces a process, which would inherit the flag.
inline bool AtCallThatEndsSteps(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  const auto* code = reinterpret_cast<const uint8_t*>(g[REG_RIP]);
  if (code[0] != 0x0f || code[1] != 0x05) return false;  // syscall
  switch (g[REG_RAX]) {
    case SYS_rt_sigprocmask: {
      const auto* blocked = reinterpret_cast<const uint64_t*>(g[REG_RSI]);
      return g[REG_RDI] != SIG_UNBLOCK && blocked != nullptr &&
             (*blocked >> (SIGTRAP - 1) & 1) != 0;
    }
    case SYS_clone:
    case SYS_clone3:
    case SYS_fork:
    case SYS_vfork:
    case SYS_execve:
      return true;
    default:
      return false;
  }
}

// x86_64 has no signed return addresses.
inline uint64_t SignReturnAddress(uint64_t address) { return address; }

// Calls function(first, second) for a function that was not compiled to be called by its address.
inline uint64_t CallByAddress(uint64_t function, uint64_t first, uint64_t second) {
  return reinterpret_cast<uint64_t (*)(uint64_t, uint64_t)>(function)(first, second);
}

// futex(2) without a timeout's remainder and without errno, which another thread may have borrowed
// with this thread's thread-local memory. Signal-safe.
inline void BareFutex(const void* word, int operation, uint32_t value, const void* timeout) {
  uint64_t result = SYS_futex;
  register const void* fourth asm("r10") = timeout;
  asm volatile("syscall"
               : "+a"(result)
               : "D"(word), "S"(static_cast<uint64_t>(operation)),
                 "d"(static_cast<uint64_t>(value)), "r"(fourth)
               : "rcx", "r11", "memory");
}

// The thread pointer: the base of thread-local storage.
inline uint64_t ThreadPointer() {
  uint64_t pointer;
  asm("mov %%fs:0, %0" : "=r"(pointer));  // psABI: the word at fs:0 holds its own address
  return pointer;
}

inline void SetThreadPointer(uint64_t pointer) {
  static const bool from_user_mode = (getauxval(AT_HWCAP2) & 2) != 0;  // HWCAP2_FSGSBASE
  if (from_user_mode)
    asm volatile("wrfsbase %0" ::"r"(pointer) : "memory");
  else
    syscall(SYS_arch_prctl, ARCH_SET_FS, pointer);
}

// Writes a jump to `to`, which may be anywhere, to `code`, of kFarJumpBytes. Keeps all registers.
inline constexpr size_t kFarJumpBytes = 14;
inline void WriteFarJump(uint64_t to, uint8_t* code) {
  constexpr uint8_t kJump[] = {0xff, 0x25, 0, 0, 0, 0};  // jmp [rip]
  std::memcpy(code, kJump, sizeof kJump);
  std::memcpy(code + sizeof kJump, &to, sizeof to);
}

// A jump of which only the opcode, of one CodeUnit, is written: the bytes that stand behind it
// anyway are its distance. EntryJumpTarget: where it leads from the function at `entry`.
inline constexpr CodeUnit kEntryJumpCode = 0xe9;  // jmp rel32
inline uint64_t EntryJumpTarget(uint64_t entry) {
  int32_t distance = 0;
  std::memcpy(&distance, reinterpret_cast<const uint8_t*>(entry) + 1, sizeof distance);
  return entry + 1 + sizeof distance + static_cast<uint64_t>(int64_t{distance});
}

// Writes to `code`, of kMovedEntryBytes, the first instruction of the function at `entry` and a
// jump to the second: what calls `code` calls the function, whatever stands at `entry` by then.
// False if the first instruction is neither endbr64 nor a push of a register. The code keeps
// all registers. What is called instead keeps only those of the ABI: not r10, r11 or xmm.
inline constexpr size_t kMovedEntryBytes = 32;
inline bool WriteMovedEntry(uint64_t entry, uint8_t* code) {
  constexpr uint8_t kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  const auto* first = reinterpret_cast<const uint8_t*>(entry);
  const bool is_wide = first[0] == 0x41 && (first[1] & 0xf8) == 0x50;
  size_t size = (first[0] & 0xf8) == 0x50 ? 1 : is_wide ? 2 : 0;
  if (std::memcmp(first, kEndBranch, sizeof kEndBranch) == 0) size = sizeof kEndBranch;
  if (size == 0) return false;
  std::memcpy(code, first, size);
  WriteFarJump(entry + size, code + size);
  return true;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_
