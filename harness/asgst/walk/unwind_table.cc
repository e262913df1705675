// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/unwind_table.h"

#include <algorithm>

namespace walkhammer::asgst {

bool UnwindTables::Find(uint64_t pc, UnwindRow& row) const {
  row = {};
  // Before the modules are read: who publishes others next sees this user, or is seen.
  users_.fetch_add(1);
  bool found = false;
  if (const auto* modules = modules_.load(); modules != nullptr) {
    const auto module =
        std::upper_bound(modules->begin(), modules->end(), pc,
                         [](uint64_t a, const UnwindModule& m) { return a < m.high; });
    found = module != modules->end() && pc >= module->low;
    if (found) {
      const uint64_t offset = pc - module->low;
      const auto& rows = module->rows;
      const auto next =
          std::upper_bound(rows.begin(), rows.end(), offset,
                           [](uint64_t a, const UnwindRow& r) { return a < r.begin; });
      if (next != rows.begin()) row = next[-1];
    } else {
      missed_.store(true, std::memory_order_relaxed);
    }
  }
  users_.fetch_sub(1);
  return found;
}

void NativeUnwinder::Begin(const Registers& at, bool top, uint64_t limit, uint64_t outer) {
  at_ = at;
  top_ = top;
  has_guessed_ = false;
  limit_ = limit;
  outer_ = outer;
  signal_pc_ = 0;
}

UnwindRow NativeUnwinder::Row() const {
  UnwindRow row{};
  if (tables_ != nullptr) tables_->Find(top_ ? at_.pc : at_.pc - 1, row);
  return row;
}

bool NativeUnwinder::Up() {
  const UnwindRow row = Row();
  Registers caller{};
  // No row can say what a signal frame holds.
  if (SignalFrame frame; row.base == UnwindRow::kUnknown && !top_ &&
                         rules_.read_signal_frame(memory_, at_.pc, at_.sp, frame))
    return PassSignal(frame);
  has_guessed_ |= row.base == UnwindRow::kUnknown;
  if (row.base != UnwindRow::kUnknown ? !ByRow(row, caller) : !ByFramePointer(caller)) return false;
  if (caller.pc == 0 || caller.sp >= limit_) return false;
  at_ = caller;
  top_ = false;
  return true;
}

// Handlers may run on a stack of their own (sigaltstack).
bool NativeUnwinder::PassSignal(const SignalFrame& frame) {
  const Registers& r = frame.registers;
  const uint64_t limit = r.sp > at_.sp && r.sp < limit_ ? limit_ : outer_;
  if (r.pc == 0 || r.sp >= limit || r.sp == at_.sp) return false;
  limit_ = limit;
  signal_pc_ = at_.pc;
  signal_sp_ = at_.sp;
  at_ = r;
  top_ = true;
  return true;
}

bool NativeUnwinder::ByRow(const UnwindRow& row, Registers& caller) const {
  const uint64_t base = row.base == UnwindRow::kSp ? at_.sp : at_.fp;
  const uint64_t cfa = base + static_cast<uint64_t>(static_cast<int64_t>(row.cfa));
  // Where calls push nothing (aarch64), a function without a frame yet has CFA = sp.
  const bool may_be_empty = top_ && rules_.has_link_register;
  if ((cfa & 7) != 0 || cfa < at_.sp || (cfa == at_.sp && !may_be_empty)) return false;
  if (row.ra == UnwindRow::kGone) return false;
  uint64_t pc = at_.lr, fp = at_.fp;
  if (row.ra == UnwindRow::kSame && (!rules_.has_link_register || !top_)) return false;
  if (row.ra != UnwindRow::kSame && !Word(cfa + static_cast<uint64_t>(int64_t{row.ra}), pc))
    return false;
  if (row.fp != UnwindRow::kSame && row.fp != UnwindRow::kGone &&
      !SavedFp(cfa + static_cast<uint64_t>(int64_t{row.fp}), fp))
    return false;
  caller = {pc & rules_.address_mask, cfa, fp, 0};
  return true;
}

// Reads fp', saved at `address`. A function that is returning has popped fp': then `address` is
// below sp, in the red zone that signals leave alone, and fp' is in its register again.
bool NativeUnwinder::SavedFp(uint64_t address, uint64_t& fp) const {
  constexpr uint64_t kRedZone = 128;  // bytes, of x86_64
  if (address >= at_.sp) return Word(address, fp);
  if (!top_) return false;
  const bool is_kept = !rules_.has_link_register && at_.sp - address <= kRedZone;
  if (!is_kept || !memory_.ReadWord(address, fp)) fp = at_.fp;
  return true;
}

bool NativeUnwinder::ByFramePointer(Registers& caller) const {
  uint64_t fp = 0, pc = 0;
  if ((at_.fp & 7) != 0 || !Word(at_.fp, fp) || !Word(at_.fp + 8, pc)) return false;
  caller = {pc & rules_.address_mask, at_.fp + 16, fp, 0};
  return true;
}

}  // namespace walkhammer::asgst
