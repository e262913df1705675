// SPDX-License-Identifier: Apache-2.0
// UnwindTable: how to get from a place in C or C++ code to its caller, by what compilers leave in
// .eh_frame, or by frame pointers where they left nothing. Tables are made ahead of time
// (unwind_service.h); here they are only looked up. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "harness/asgst/walk/prologue.h"
#include "harness/base/trace.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

// From `begin` to the next row. CFA, the canonical frame address, is what sp was before the call.
struct UnwindRow {
  enum Base : uint8_t { kUnknown, kSp, kFp };
  // For `fp` and `ra`, instead of bytes from the CFA.
  static constexpr int16_t kSame = INT16_MIN, kGone = INT16_MIN + 1;

  uint32_t begin;  // bytes from the module's lowest address
  int32_t cfa;     // bytes from the base to the CFA
  int16_t fp;      // where the caller's frame pointer is; kSame: still in its register
  int16_t ra;      // where the return address is; kSame: in the link register; kGone: no caller
  Base base;
};
static_assert(sizeof(UnwindRow) == 16);

// A shared library, or the program, as it is loaded.
struct UnwindModule {
  uint64_t low = 0, high = 0;
  std::span<const UnwindRow> rows;  // by their begins; empty: frame pointers must do
};

class UnwindTables {
 public:
  // `modules`: by their low ends, apart from each other; must live for good.
  void Publish(const std::span<const UnwindModule>* modules) { modules_.store(modules); }
  // Null if `pc` lies in no module that is known; `row` is null if nothing is said of `pc`.
  const UnwindModule* Find(uint64_t pc, const UnwindRow*& row) const;
  // Since it was asked last: a pc lay in no module.
  bool TakeMissed() const { return missed_.exchange(false); }
  bool missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const std::span<const UnwindModule>*> modules_{nullptr};
  mutable std::atomic<bool> missed_{false};
};

// The frames of C and C++ code, newest first.
class NativeUnwinder {
 public:
  // The frames lie between `at`'s sp and `limit`. `tables` may be null. All must outlive it.
  NativeUnwinder(const UnwindTables* tables, const CodeRules& rules, const MemoryReader& memory)
      : tables_(tables), rules_(rules), memory_(memory) {}

  // `at`: in C code; with `top` interrupted there, else called from just before it.
  void Begin(const Registers& at, bool top, uint64_t limit);
  const Registers& at() const { return at_; }
  // True if a table tells the caller of at(); else Up() guesses by the frame pointer, which is an
  // older frame's in code that keeps none.
  bool Told() const { return Row() != nullptr; }
  // To the caller. False where none can be told: then nothing has changed.
  bool Up();

 private:
  const UnwindRow* Row() const;  // null: none that tells anything
  bool ByRow(const UnwindRow& row, Registers& caller) const;
  bool SavedFp(uint64_t address, uint64_t& fp) const;
  bool ByFramePointer(Registers& caller) const;
  bool Word(uint64_t address, uint64_t& word) const {
    return address >= at_.sp && address < limit_ && memory_.ReadWord(address, word);
  }

  const UnwindTables* tables_;
  const CodeRules& rules_;
  const MemoryReader& memory_;
  Registers at_{};
  bool top_ = false;
  uint64_t limit_ = 0;
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_
