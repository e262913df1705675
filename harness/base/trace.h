// SPDX-License-Identifier: Apache-2.0
// Trace: what one walker call returned, and what the guard saw around it.
// Signal-safe: yes (plain structs).
#ifndef WALKHAMMER_HARNESS_BASE_TRACE_H_
#define WALKHAMMER_HARNESS_BASE_TRACE_H_

#include <cstdint>

#include "harness/base/walk_end.h"

namespace walkhammer {

struct Frame {
  int32_t bci;   // bytecode index, or a special value that the walker declares
  int32_t kind;  // KindOfFrame; 0: the walker does not report it
  void* method;  // jmethodID, or null
};

// Combines a frame type of JEP 435 (1 Java, 2 inlined, 3 native) and a compile level (0
// interpreted, 1 to 3 C1, 4 C2) in one number.
constexpr int32_t KindOfFrame(int type, int level) { return type | level << 8; }

struct Registers {
  uint64_t pc, sp, fp, lr;  // lr is 0 on architectures without one
};

// Other registers that generated code uses. 0: not known, or none on this architecture.
struct JavaRegisters {
  uint64_t byte_code = 0;       // the interpreter's bytecode pointer: x86_64 r13, aarch64 x22
  uint64_t sender_sp = 0;       // the caller's sp, before a frame is built: r13
  uint64_t return_pc = 0;       // return address before a frame is built, or exception handler: rax
  uint64_t exception_pc = 0;    // pc that threw, on the way to an exception handler: rdx
  uint64_t first_argument = 0;  // JavaCallWrapper, on the way into Java: rdi, x0
  // x86_64: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 ... r15, as instructions number them.
  uint64_t general[16] = {};
  uint64_t flags = 0;  // x86_64: rflags, never 0, as one bit is always set
};

// How a guarded call ended.
enum class Ending : uint8_t { kReturned, kCrashed, kHung };

inline constexpr int kMaxNativeFrames = 24;

// Where a walker crashed or hung inside of a guarded call.
struct Fault {
  int32_t signal;
  int32_t code;      // si_code
  uint64_t address;  // si_addr; 0 if the kernel does not report it (non-canonical addresses)
  Registers registers;
  int32_t native_count;
  int32_t doubtful;                   // 1: maybe SafeFetch's own fault, see GuardOptions::doubtful
  uint64_t native[kMaxNativeFrames];  // pcs, innermost first, by frame pointers
  // Of a hang, from several looks at it: how many of the outermost calls of `native` were the same
  // each time, and an address in the function inside of these, which loops. 0: not known.
  int32_t lasting_calls;
  int32_t looping_returns;  // 1: `looping` is a return address; 0: a pc
  uint64_t looping;
  // The check of the JVM's own (assert, guarantee, fatal) that failed, for which the JVM ends the
  // process: "(frame.cpp:123) assert(is_java_frame()) failed"; else empty.
  char failed_check[160];
};

// An API's description of a frame's method: "pkg/Class.method(Sig)Ret", truncated to the size.
struct DescribedFrame {
  char text[512];
};

struct Trace {
  Ending ending;
  int32_t num_frames;   // frame count, or a code <= 0
  const Frame* frames;  // num_frames of them when positive; owned by the walker adapter
  // The first frames' descriptions, from walkers that ask for names. Owned by the walker adapter.
  const DescribedFrame* described = nullptr;
  int32_t described_count = 0;
  // The request ended the walk, so there may be older frames: either the buffer is full, perhaps
  // with frames that are not Java's and so not in `frames`, or an option ended the walk.
  bool ended_on_request = false;
  // The walker says that it could not go on, so there may be older frames.
  bool broke_off = false;
  bool MayGoOn() const { return ended_on_request || broke_off; }
  // A sentence on how the API contradicts itself, or null.
  const char* complaint = nullptr;
  // Index of the newest frame that the walker searched for instead of deriving it: this frame and
  // all older frames may be wrong. -1: there is none, or the walker does not tell.
  int32_t guessed_from = -1;
  WalkEnd end = WalkEnd::kUntold;
  // Faults that the walker's own protection ended the walk for; GuardSlot::fault tells the first.
  int32_t protected_faults = 0;
  uint64_t ns = 0;  // how long the call took, if it returned

  bool IsGuess(int frame) const { return guessed_from >= 0 && frame >= guessed_from; }
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TRACE_H_
