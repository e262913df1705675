// SPDX-License-Identifier: Apache-2.0
// SteppedStack: a shadow stack of a stepped thread, made of the calls and returns that the
// processor executes, and so independent of every walker. It begins empty: what was called before
// the first step is not known, and nothing is said about it.
// For architectures that call by pushing the return address. Pure logic, tested without a JVM.
// Signal-safe: yes.
#ifndef WALKHAMMER_STRESS_STEPPED_STACK_H_
#define WALKHAMMER_STRESS_STEPPED_STACK_H_

#include <cstdint>
#include <span>

#include "stress/step_instruction.h"

namespace walkhammer::stress {

// One call that has not returned.
struct SteppedCall {
  // What its caller is, and which frames an answer must have for that caller.
  enum class Caller : uint8_t {
    kNoJava,       // C code or a stub: none
    kInterpreted,  // one, of `method`; if that is 0, perhaps none
    kCompiled,     // those at `return_pc` in an nmethod, the oldest of them of `method`
    kUnknown       // any: what lies here on the stack was not called while the thread was stepped
  };
  Caller caller = Caller::kNoJava;
  bool is_away = false;    // the return address is in a register
  bool is_within = false;  // called was a later part of the caller's own code, which makes no frame
  bool may_lack = false;   // called from the entry of an nmethod, which may count as not begun
  bool is_pushed = false;  // its return address was pushed, and its caller runs on up to a jump
  int32_t frames = 0;      // kCompiled: how many frames; 0: not known
  uint64_t slot = 0;       // address of the return address; the call has returned when sp > slot
  uint64_t return_pc = 0;  // as the call pushed it
  uint64_t sender = 0;     // the caller's sp before it
  uint64_t fp = 0;         // of an interpreted caller
  uint64_t method = 0;     // Method*
  uint64_t newest = 0;     // kCompiled: Method* of the newest of `frames`; 0: not known
};

// What runs at a step.
enum class SteppedCode : uint8_t {
  kNative,       // no generated code
  kStub,         // one without frames of Java methods
  kAdapter,      // a stub between a caller and its callee, which may count as begun
  kReframing,    // a stub that replaces frames by others without calling, as deoptimisation does
  kByteCode,     // the interpreter, in the codelet of a bytecode: fp is that of its frame
  kInterpreter,  // the interpreter elsewhere
  kWrapper,      // an nmethod that calls a native method
  kCompiled      // any other nmethod
};

struct SteppedPoint {
  uint64_t pc, sp, fp;
  uint64_t top;  // the word at sp
  StepOp op;     // of the instruction at pc, which runs next
  SteppedCode code;
};

// What the JVM knows of code. The functions must be signal-safe.
class CodeReader {
 public:
  virtual ~CodeReader() = default;
  virtual bool IsGenerated(uint64_t pc) const = 0;
  virtual bool InInterpreter(uint64_t pc) const = 0;
  // True if one nmethod holds both addresses.
  virtual bool InSameNmethod(uint64_t a, uint64_t b) const = 0;
  // The caller that `return_pc` leads back to: caller, may_lack, method, newest and frames of a
  // SteppedCall.
  // `fp`: of an interpreted caller; 0: not known.
  virtual SteppedCall CallerAt(uint64_t return_pc, uint64_t fp) const = 0;
};

class SteppedStack {
 public:
  static constexpr int kMostCalls = 512;  // of more, the oldest are forgotten

  explicit SteppedStack(const CodeReader& code) : code_(code) {}

  // Forgets all.
  void Reset();
  // Follows the thread to the next instruction. No step may be left out in between, but the
  // handlers of signals.
  void Step(const SteppedPoint& at);

  // The calls that have not returned, oldest first.
  std::span<const SteppedCall> calls() const { return {calls_, static_cast<size_t>(count_)}; }

 private:
  SteppedCall* Top() { return count_ > 0 ? &calls_[count_ - 1] : nullptr; }
  void Apply(const SteppedPoint& at);
  bool IsExplained(const SteppedPoint& at) const;
  bool LeavesFrame(const SteppedPoint& at) const;
  void Call(const SteppedPoint& at);
  void Push(const SteppedPoint& at);
  void Pop(const SteppedPoint& at);
  void Add(const SteppedCall& call);
  void AddUnknown();
  void Drop();
  void DropReturned(const SteppedPoint& at);
  bool IsBackIn(const SteppedCall& call, uint64_t pc) const;

  const CodeReader& code_;
  bool has_before_ = false;
  SteppedPoint before_{};
  SteppedCall dropped_{};  // the oldest call that the newest step has dropped; kNoJava: none
  int count_ = 0;
  SteppedCall calls_[kMostCalls];
};

}  // namespace walkhammer::stress

#endif  // WALKHAMMER_STRESS_STEPPED_STACK_H_
