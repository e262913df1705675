// SPDX-License-Identifier: Apache-2.0
// VmStructs: HotSpot's own description of its structures, which libjvm exports for the
// serviceability agent: gHotSpotVMStructs, gHotSpotVMTypes, gHotSpotVMIntConstants.
// JvmLayout: the fields that walkhammer uses, looked up once.
// Signal-safe: ThreadStates, JvmLayout and JavaThreadView yes; the rest no.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_VM_STRUCTS_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_VM_STRUCTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer {

class VmStructs {
 public:
  // Reads the tables of `libjvm`, a dlopen handle. kUnable if a table is missing.
  static Result<VmStructs> Load(void* libjvm);
  // The same for any JVM. `address_of`: the address of a symbol of its libjvm; 0: there is none.
  // `memory`: of that JVM. Static() then gives addresses in that memory.
  static Result<VmStructs> Read(const std::function<uint64_t(const std::string&)>& address_of,
                                const MemoryReader& memory);

  // Byte offset of a nonstatic field, e.g. ("JavaThread", "_anchor").
  std::optional<int> Offset(const std::string& type, const std::string& field) const;
  // Address of a static field, or null.
  void* Static(const std::string& type, const std::string& field) const;
  std::optional<int> Constant(const std::string& name) const;
  std::optional<size_t> SizeOf(const std::string& type) const;
  // The declared C++ type of a field, e.g. "size_t"; empty if there is no such field.
  std::string FieldType(const std::string& type, const std::string& field) const;

  // All fields and sizes that were looked up so far, "Type::field" or "sizeof(Type)", each with
  // whether this JVM has it.
  const std::map<std::string, bool>& Asked() const { return asked_; }
  // For tests: adds `bytes` to the offset of a field or to a size. `name`: as in Asked().
  void Shift(const std::string& name, int bytes);

 private:
  struct Field {
    std::string type;
    bool is_static;
    int offset;
    void* address;
  };
  const Field* Find(const std::string& type, const std::string& field) const;
  std::unordered_map<std::string, Field> fields_;
  std::unordered_map<std::string, int> constants_;
  std::unordered_map<std::string, size_t> sizes_;
  mutable std::map<std::string, bool> asked_;
};

// Looks up fields one after the other and remembers the last missing one, for one check at the end.
// The VmStructs must outlive the StructReader.
class StructReader {
 public:
  explicit StructReader(const VmStructs& structs) : structs_(structs) {}
  // Byte offset of a field; 0 if missing. `other_type`: the type that has the field in other JDKs.
  int Need(const std::string& type, const std::string& field, const char* other_type = nullptr);
  int Optional(const std::string& type, const std::string& field) const;    // -1 if missing
  uint64_t* NeedStatic(const std::string& type, const std::string& field);  // null if missing
  int NeedSize(const std::string& type);      // sizeof(type) in bytes; 0 if missing
  int NeedConstant(const std::string& name);  // 0 if missing
  // Ok, or kUnable with the name of a missing field.
  Status Complete() const;

 private:
  const VmStructs& structs_;
  std::string missing_;
};

// The numbers of JavaThreadState. walkhammer numbers the states as JDK 8 to 27 do; JDK 28 has other
// numbers, and no transition states (*_trans). Source: vmStructs' constants _thread_new, ...,
// _thread_blocked_trans.
struct ThreadStates {
  static constexpr int kCount = 12;
  // The JVM's number of each state, indexed by walkhammer's number; -1: this JVM has no such state.
  int8_t values[kCount] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

  // True if no other thread changes the stack and the anchor of a thread in `state` whose
  // last_Java_sp is `last_sp`, because the thread must reach a safepoint first. In a JVM without
  // transition states, a thread with a set anchor may be at a safepoint already: JDK 28's native
  // wrappers and ThreadInVMfromNative set in_Java or in_vm while the anchor is still set, and only
  // then check whether a safepoint has begun.
  bool StandsStill(uint8_t state, uint64_t last_sp) const {
    constexpr uint8_t kInNativeTrans = 5, kInVm = 6, kInJava = 8;
    return (state == kInVm || state == kInJava) && (last_sp == 0 || values[kInNativeTrans] >= 0);
  }

  // This JVM's number of a state with walkhammer's number. If this JVM has no such state, or the
  // number is not that of a state: a number that is not a state in this JVM.
  int32_t ValueOf(uint8_t state) const {
    if (state < kCount && values[state] >= 0) return values[state];
    return state < kCount ? kNone + state : state;
  }

  // The reverse of ValueOf: walkhammer's number of a state with this JVM's number.
  uint8_t StateOf(int32_t value) const {
    if (value >= 0 && value < kCount && values[value] == value)  // as most are
      return static_cast<uint8_t>(value);
    for (int state = 0; state < kCount; state++)
      if (values[state] == value) return static_cast<uint8_t>(state);
    if (value >= kNone && value < kNone + kCount && values[value - kNone] < 0)
      return static_cast<uint8_t>(value - kNone);
    return static_cast<uint8_t>(value >= 0 && value < kCount ? kNone + value : value);
  }

 private:
  static constexpr int kNone = 64;  // greater than any JVM's number of a state
};

// Byte offsets of fields, which have the same names in JDK 8 to 28.
struct JvmLayout {
  int thread_state, anchor, stack_base, stack_size;  // JavaThread
  int last_sp, last_pc, last_fp;                     // JavaFrameAnchor
  int method_code, method_const;                     // Method
  int const_code_size;                               // ConstMethod
  ThreadStates states;
};

Result<JvmLayout> ReadLayout(const VmStructs& structs);

// A JavaThread by address. Reads and writes are plain memory accesses.
class JavaThreadView {
 public:
  JavaThreadView() = default;
  JavaThreadView(void* thread, const JvmLayout& layout)
      : base_(static_cast<char*>(thread)), layout_(&layout) {}
  void* address() const { return base_; }
  volatile int32_t* state() const { return At<int32_t>(layout_->thread_state); }
  // The thread state with walkhammer's number (ThreadStates), not the JDK's.
  uint8_t State() const { return layout_->states.StateOf(*state()); }
  void SetState(uint8_t to) const { *state() = layout_->states.ValueOf(to); }
  const ThreadStates& states() const { return layout_->states; }
  volatile uint64_t* last_sp() const { return At<uint64_t>(layout_->anchor + layout_->last_sp); }
  volatile uint64_t* last_pc() const { return At<uint64_t>(layout_->anchor + layout_->last_pc); }
  // False if the thread, which stands still, runs C code that no Java code has called.
  bool HasJavaFrames() const {
    constexpr uint8_t kInJava = 8, kInJavaTrans = 9;
    return *last_sp() != 0 || State() == kInJava || State() == kInJavaTrans;
  }
  volatile uint64_t* last_fp() const { return At<uint64_t>(layout_->anchor + layout_->last_fp); }
  uint64_t stack_base() const { return *At<uint64_t>(layout_->stack_base); }
  uint64_t stack_limit() const { return stack_base() - *At<uint64_t>(layout_->stack_size); }

 private:
  template <typename T>
  volatile T* At(int offset) const {
    return reinterpret_cast<volatile T*>(base_ + offset);
  }
  char* base_ = nullptr;
  const JvmLayout* layout_ = nullptr;
};

// A layout for JVMs without vmStructs, and what stands there for each JavaThread: its state is
// kUnknownState, it has no anchor and no stack.
const JvmLayout& UndescribedLayout();
JavaThreadView UndescribedThread();
inline constexpr uint8_t kUnknownState = 255;

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_VM_STRUCTS_H_
