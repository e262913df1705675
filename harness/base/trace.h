// SPDX-License-Identifier: Apache-2.0
// Trace: what one walker call returned, and what the guard saw around it.
// Signal-safe: yes (plain structs).
#ifndef WALKHAMMER_HARNESS_BASE_TRACE_H_
#define WALKHAMMER_HARNESS_BASE_TRACE_H_

#include <cstdint>

namespace walkhammer {

struct Frame {
  int32_t bci;   // byte code index, or a special value that the walker declares
  int32_t kind;  // KindOfFrame; 0: the walker does not tell
  void* method;  // jmethodID, or null
};

// The types of JEP 435 (1 Java, 2 inlined, 3 native) and compile levels (0 interpreted, 1 to 3 C1,
// 4 C2), in one number.
constexpr int32_t KindOfFrame(int type, int level) { return type | level << 8; }

struct Registers {
  uint64_t pc, sp, fp, lr;  // lr is 0 on architectures without one
};

// What generated code keeps in registers besides. 0: not known, or none on this architecture.
struct JavaRegisters {
  uint64_t byte_code = 0;       // the interpreter's pointer to it: x86_64 r13, aarch64 x22
  uint64_t sender_sp = 0;       // before a frame is built: the caller's sp; r13
  uint64_t return_pc = 0;       // likewise: where it returns to; or who handles an exception; rax
  uint64_t exception_pc = 0;    // on the way there: where it was thrown; rdx
  uint64_t first_argument = 0;  // on the way into Java: the JavaCallWrapper; rdi, x0
  // x86_64: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... r15, as instructions number them.
  uint64_t general[16] = {};
};

// How a guarded call ended.
enum class Ending : uint8_t { kReturned, kCrashed, kHung };

inline constexpr int kMaxNativeFrames = 24;

// A contained fault or hang: where the walker was.
struct Fault {
  int32_t signal;
  int32_t code;      // si_code
  uint64_t address;  // si_addr; 0 where the kernel does not tell (non-canonical addresses)
  Registers registers;
  int32_t native_count;
  int32_t doubtful;                   // 1: it may be SafeFetch's own, see GuardOptions::doubtful
  uint64_t native[kMaxNativeFrames];  // pcs, innermost first, by frame pointers
  // Where the JVM has found that a check of its own fails (assert, guarantee, fatal), for which it
  // ends the process: "(frame.cpp:123) assert(is_java_frame()) failed"; else empty.
  char failed_check[160];
};

// What an API says of a frame's method: "pkg/Class.method(Sig)Ret", cut to the size.
struct DescribedFrame {
  char text[512];
};

struct Trace {
  Ending ending;
  int32_t num_frames;   // frame count, or a code <= 0
  const Frame* frames;  // num_frames of them when positive; owned by the walker adapter
  // Of walkers that ask for names: those of the first frames. Owned by the adapter.
  const DescribedFrame* described = nullptr;
  int32_t described_count = 0;
  // It ends where it was to end, which says nothing of older frames: its buffer holds no more,
  // frames in it counted that are not Java's and so not in `frames`; or an option of the walk ends
  // it.
  bool ended_on_request = false;
  // In what the API contradicts itself; or null.
  const char* complaint = nullptr;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TRACE_H_
