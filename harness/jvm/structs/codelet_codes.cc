// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/codelet_codes.h"

#include <algorithm>
#include <string_view>

namespace walkhammer {
namespace {

constexpr int kLastOfJava = 0xc9;  // jsr_w; breakpoint and HotSpot's own follow
constexpr int kIload = 21, kCaload = 52, kAload0 = 42, kGetfield = 180;

// HotSpot's own bytecodes by the end of their names. The names are the same in all JDKs, the
// numbers are not. The first entry that matches counts.
constexpr struct {
  std::string_view end;
  int code, also;
} kOwn[] = {
    {"access_0", kAload0, kGetfield},
    {"fast_iload2", kIload, kIload},
    {"fast_icaload", kIload, kCaload},
    {"iload", kIload, -1},
    {"aload_0", kAload0, -1},
    {"aldc", 18, -1},
    {"aldc_w", 19, -1},
    {"switch", 171, -1},
    {"return_register_finalizer", 177, -1},
    {"getfield", kGetfield, -1},
    {"putfield", 181, -1},
    {"invokevfinal", 182, -1},
    {"invokehandle", 182, -1},
};

bool Jumps(int code) { return (code >= 153 && code <= 171) || (code >= 198 && code <= 201); }
bool Returns(int code) { return code >= 172 && code <= 177; }

ExecutedCode Executed(int code, std::string_view name) {
  if (code <= kLastOfJava) return {code, -1, Jumps(code), Returns(code)};
  for (const auto& own : kOwn)
    if (name.ends_with(own.end)) return {own.code, own.also, Jumps(own.code), Returns(own.code)};
  return {};
}

}  // namespace

void CodeletCodes::Set(const std::vector<Codelet>& codelets) {
  places_.clear();
  for (int code = 0; code <= kLastOfJava; code++) executed_[code] = Executed(code, "");
  for (const Codelet& codelet : codelets) {
    if (codelet.code < 0 || codelet.code > 255) continue;
    executed_[codelet.code] = Executed(codelet.code, codelet.description);
    places_.push_back({codelet.begin, codelet.end, codelet.code});
  }
  std::sort(places_.begin(), places_.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
}

ExecutedCode CodeletCodes::At(uint64_t pc) const {
  const auto after =
      std::upper_bound(places_.begin(), places_.end(), pc,
                       [](uint64_t pc, const Place& place) { return pc < place.begin; });
  if (after == places_.begin() || pc >= (after - 1)->end) return {};
  return executed_[(after - 1)->code];
}

}  // namespace walkhammer
