// SPDX-License-Identifier: Apache-2.0
// UnwindTables and NativeUnwinder: from a place in C or C++ code to its caller, by the .eh_frame
// that compilers emit, or by frame pointers where there is no .eh_frame. The tables are made ahead
// of time (unwind_service.h); the code here only looks rows up. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_

#include <atomic>
#include <cstdint>
#include <span>

#include "harness/asgst/walk/prologue.h"
#include "harness/base/trace.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

// Holds from `begin` to the next row. CFA, the canonical frame address, is the caller's sp:
// sp' = CFA = base + cfa, ret = [CFA + ra], fp' = [CFA + fp].
struct UnwindRow {
  enum Base : uint8_t { kUnknown, kSp, kFp };
  // Values of `fp` and `ra` other than bytes from the CFA.
  static constexpr int16_t kSame = INT16_MIN, kGone = INT16_MIN + 1;

  uint32_t begin;  // bytes from the module's lowest address
  int32_t cfa;     // bytes from the base to the CFA
  int16_t fp;      // bytes from the CFA; kSame, kGone: fp' is in its register
  int16_t ra;      // bytes from the CFA; kSame: ret = lr; kGone: there is no caller
  Base base;
};
static_assert(sizeof(UnwindRow) == 16);

// A loaded shared library or program. `high` is exclusive.
struct UnwindModule {
  uint64_t low = 0, high = 0;
  std::span<const UnwindRow> rows;  // sorted by `begin`; empty: by frame pointers
};

class UnwindTables {
 public:
  // `modules`: sorted by `low`, without overlaps. They and their rows may be freed once other
  // modules are published and IsInUse() is false after that.
  void Publish(const std::span<const UnwindModule>* modules) { modules_.store(modules); }
  // True while a Find() runs. For good if a Find() was left by a jump out of a signal handler.
  bool IsInUse() const { return users_.load() != 0; }
  // False: `pc` is in no known module. `row`: copy of the row for `pc`; of base kUnknown: none.
  bool Find(uint64_t pc, UnwindRow& row) const;
  // True if, since the last call, Find() was given a pc of no module.
  bool TakeMissed() const { return missed_.exchange(false); }
  bool missed() const { return missed_.load(std::memory_order_relaxed); }

 private:
  std::atomic<const std::span<const UnwindModule>*> modules_{nullptr};
  mutable std::atomic<int> users_{0};
  mutable std::atomic<bool> missed_{false};
};

// Walks the frames of C and C++ code, newest first.
class NativeUnwinder {
 public:
  // `tables` may be null. All arguments must outlive the unwinder.
  NativeUnwinder(const UnwindTables* tables, const CodeRules& rules, const MemoryReader& memory)
      : tables_(tables), rules_(rules), memory_(memory) {}

  // `at`: in C code; with `top` interrupted there, otherwise a return address. The frames are
  // between at.sp and `limit`. Where a signal interrupted code on another stack, that code's frames
  // are below `outer`.
  void Begin(const Registers& at, bool top, uint64_t limit) { Begin(at, top, limit, limit); }
  void Begin(const Registers& at, bool top, uint64_t limit, uint64_t outer);
  const Registers& at() const { return at_; }
  // True if a table has a row for at(); otherwise Up() guesses by the frame pointer, which is an
  // older frame's in code that keeps no frame pointer.
  bool Reported() const { return Row().base != UnwindRow::kUnknown; }
  // Moves to the caller, or from a signal handler to what the signal interrupted. False if none is
  // found; at() is unchanged then.
  bool Up();
  // After Up(): true, and all registers that are known, if a signal interrupted the code at at().
  bool Interrupted(SignalFrame& frame) const {
    return top_ && signal_pc_ != 0 &&
           rules_.read_signal_frame(memory_, signal_pc_, signal_sp_, frame);
  }
  // True if at() is the oldest frame of its thread: the table says that it has no caller.
  bool AtOldest() const {
    const UnwindRow row = Row();
    return row.base != UnwindRow::kUnknown && row.ra == UnwindRow::kGone;
  }
  // True if, since Begin(), Up() has moved, or failed to, without a row.
  bool has_guessed() const { return has_guessed_; }

 private:
  UnwindRow Row() const;  // of base kUnknown: none
  bool ByRow(const UnwindRow& row, Registers& caller) const;
  bool SavedFp(uint64_t address, uint64_t& fp) const;
  bool ByFramePointer(Registers& caller) const;
  bool PassSignal(const SignalFrame& frame);
  bool Word(uint64_t address, uint64_t& word) const {
    return address >= at_.sp && address < limit_ && memory_.ReadWord(address, word);
  }

  const UnwindTables* tables_;
  const CodeRules& rules_;
  const MemoryReader& memory_;
  Registers at_{};
  bool top_ = false, has_guessed_ = false;
  uint64_t limit_ = 0, outer_ = 0;
  uint64_t signal_pc_ = 0, signal_sp_ = 0;  // of the signal frame that Up() has passed last
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_UNWIND_TABLE_H_
