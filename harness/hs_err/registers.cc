// SPDX-License-Identifier: Apache-2.0
// Registers, the words on top of the stack, the bytes around the pc.
#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

constexpr size_t kMostRegisters = 128;

// "RAX=0x..", "R8 =0x..", " x0=0x.."; vectors, "XMM[0]=..", are not such registers.
bool ReadRegister(Cursor& cursor, char equals, int line, CrashReport& report) {
  std::string name;
  cursor.SkipBlanks();
  const std::string_view before = cursor.rest();
  for (const char c : before.substr(0, 9)) {
    if (!IsWordChar(c)) break;
    name += LowerCase(c);
  }
  Cursor ahead(before.substr(name.size()));
  if (name.empty() || name.size() > 8 || !ahead.Skip({&equals, 1})) return false;
  const auto value = ahead.Hex();
  if (!value) return false;
  cursor = ahead;
  const bool known = std::any_of(report.registers.begin(), report.registers.end(),
                                 [&](const CrashRegister& r) { return r.name == name; });
  if (!known && report.registers.size() < kMostRegisters)
    report.registers.push_back({name, *value, line});
  return true;
}

// Bytes of one word of an instruction dump: single bytes, or units in the byte order of aarch64.
bool AppendCode(Cursor& cursor, std::vector<uint8_t>& bytes) {
  for (const size_t digits : {size_t{2}, size_t{8}, size_t{4}}) {
    const auto unit = cursor.BareHex(digits);
    if (!unit) continue;
    for (size_t i = 0; i < digits / 2; i++) bytes.push_back(static_cast<uint8_t>(*unit >> (8 * i)));
    return true;
  }
  return false;
}

}  // namespace

bool ReadRegisters(const Line& line, CrashReport& report, char equals) {
  Cursor cursor(line.text);
  bool any = false;
  while (!cursor.AtEnd() && ReadRegister(cursor, equals, line.number, report)) {
    any = true;
    (void)cursor.Skip(",");
    cursor.SkipBlanks();
  }
  return any;
}

bool ReadStackWords(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  uint64_t address = 0;
  // All 16 digits of a 64-bit address are printed.
  const bool is_64_bit = line.text.find(':') > 10;
  if (const auto begin = cursor.Hex()) {
    if (!cursor.Skip(":")) return false;
    address = *begin;
  } else if (!report.stack_words.empty()) {
    // The second half of a wrapped line.
    address = report.stack_words.back().address + sizeof(uint64_t);
    if (address % 16 == 0) return false;
  }
  if (address == 0 || address % 4 != 0) return false;
  bool any = false;
  for (uint64_t end = address + 16; address < end && report.stack_words.size() < kMostCrashItems;) {
    if (cursor.Skip("????????????????")) {
      address += 8;
    } else if (const auto word = cursor.BareHex(16)) {
      report.stack_words.push_back({address, *word, line.number});
      address += 8;
    } else if (const auto half = is_64_bit ? std::nullopt : cursor.BareHex(8)) {
      report.stack_words.push_back({address, *half, line.number});
      address += 4;
    } else {
      break;
    }
    any = true;
  }
  return any;
}

bool ReadInstructions(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  (void)cursor.Skip("=>");
  auto begin = cursor.Hex();
  std::optional<CrashCode>& code = report.instructions;
  if (begin && !cursor.Skip(":")) return false;
  if (!begin && !code) return false;
  std::vector<uint8_t> bytes;
  while (bytes.size() < 64 && AppendCode(cursor, bytes)) {
  }
  if (bytes.empty()) return false;
  if (!begin) {
    if (bytes.size() > 16 || !Trim(cursor.rest()).empty()) return false;
    begin = code->begin + code->bytes.size();  // the second half of a wrapped line
  }
  const bool adjoins = code && *begin == code->begin + code->bytes.size();
  if (adjoins && code->bytes.size() < 4096) {
    code->bytes.insert(code->bytes.end(), bytes.begin(), bytes.end());
  } else if (!code || (report.pc.known() && *begin <= report.pc.value &&
                       report.pc.value < *begin + bytes.size())) {
    code = CrashCode{*begin, std::move(bytes), line.number};
  }
  return true;
}

}  // namespace walkhammer
