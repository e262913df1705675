// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/signal_frame.h"

#include <cstring>

namespace walkhammer::asgst {
namespace {

template <int kBytes>
bool IsCode(const MemoryReader& memory, uint64_t pc, const uint8_t (&code)[kBytes]) {
  uint8_t bytes[kBytes];
  return memory.ReadBytes(pc, bytes, kBytes) && std::memcmp(bytes, code, kBytes) == 0;
}

}  // namespace

bool ReadSignalFrameX86(const MemoryReader& memory, uint64_t pc, uint64_t sp, SignalFrame& frame) {
  constexpr uint8_t kReturn[] = {0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05};  // mov rax, 15 syscall
  constexpr uint64_t kRegisters = 40;  // bytes from the ucontext, at sp, to uc_mcontext.gregs
  // Places in gregs of the registers by their numbers in instructions, rax to r15; rip is the 17th.
  constexpr uint64_t kPlaces[16] = {13, 14, 12, 11, 15, 10, 9, 8, 0, 1, 2, 3, 4, 5, 6, 7};
  constexpr int kRax = 0, kRdx = 2, kRsp = 4, kRbp = 5, kRdi = 7, kR13 = 13, kRip = 16;
  if (!IsCode(memory, pc, kReturn)) return false;
  uint64_t words[17];
  for (uint64_t i = 0; i < 17; i++)
    if (!memory.ReadWord(sp + kRegisters + 8 * i, words[i])) return false;
  uint64_t* general = frame.java.general;
  for (int i = 0; i < 16; i++) general[i] = words[kPlaces[i]];
  frame.java.byte_code = frame.java.sender_sp = general[kR13];
  frame.java.return_pc = general[kRax];
  frame.java.exception_pc = general[kRdx];
  frame.java.first_argument = general[kRdi];
  frame.registers = {words[kRip], general[kRsp], general[kRbp], 0};
  return true;
}

bool ReadSignalFrameAarch64(const MemoryReader& memory, uint64_t pc, uint64_t sp,
                            SignalFrame& frame) {
  constexpr uint8_t kReturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};  // mov x8, 139  svc 0
  // Bytes from sp: the siginfo, the ucontext up to uc_mcontext, fault_address.
  constexpr uint64_t kRegisters = 128 + 176 + 8;
  constexpr int kFp = 29, kLr = 30, kSp = 31, kPc = 32, kByteCode = 22;
  if (!IsCode(memory, pc, kReturn)) return false;
  uint64_t words[33];
  for (uint64_t i = 0; i < 33; i++)
    if (!memory.ReadWord(sp + kRegisters + 8 * i, words[i])) return false;
  frame.java = {.byte_code = words[kByteCode], .first_argument = words[0]};
  frame.registers = {words[kPc], words[kSp], words[kFp], words[kLr]};
  return true;
}

}  // namespace walkhammer::asgst
