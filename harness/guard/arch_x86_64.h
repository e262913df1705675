// x86_64: see arch.h. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_
#define WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_

namespace walkhammer {

inline constexpr const char* kArchName = "x86_64";
inline constexpr bool kHasLinkRegister = false;
inline constexpr int kElfMachine = 62;  // EM_X86_64

using CodeUnit = uint8_t;
inline constexpr CodeUnit kTrapCode = 0xcc;  // int3
inline constexpr uint64_t kTrapPcAhead = 1;

inline Registers ReadContext(const ucontext_t& context) {
  const auto& g = context.uc_mcontext.gregs;
  return {static_cast<uint64_t>(g[REG_RIP]), static_cast<uint64_t>(g[REG_RSP]),
          static_cast<uint64_t>(g[REG_RBP]), 0};
}

inline void WriteContext(const Registers& registers, ucontext_t& context) {
  auto& g = context.uc_mcontext.gregs;
  g[REG_RIP] = static_cast<greg_t>(registers.pc);
  g[REG_RSP] = static_cast<greg_t>(registers.sp);
  g[REG_RBP] = static_cast<greg_t>(registers.fp);
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_GUARD_ARCH_X86_64_H_
