// SPDX-License-Identifier: Apache-2.0
// ReadUnwindRows: converts what libdw reads from .eh_frame into rows.
#include <dwarf.h>
#include <elfutils/libdw.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "harness/asgst/unwind/unwind_service.h"
#include "harness/elf/elf_file.h"

namespace walkhammer::asgst {
namespace {

// Register numbers of the psABIs in debug information.
struct Numbers {
  GElf_Half machine;
  int sp, fp, ra;
};
constexpr Numbers kNumbers[] = {{EM_X86_64, 7, 6, 16}, {EM_AARCH64, 31, 29, 30}};

struct Closer {
  void operator()(Dwarf_CFI* cfi) const { dwarf_cfi_end(cfi); }
  void operator()(Dwarf_Frame* frame) const { free(frame); }
};

// Where functions begin, from the table of .eh_frame_hdr in the form that linkers write.
class FunctionStarts {
 public:
  // `hash`: hash that the table must have; 0: any.
  FunctionStarts(Elf* elf, uint64_t hash) : hash_(hash) {
    size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return;
    for (size_t i = 0; i < count; i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr) continue;
      if (header.p_type == PT_LOAD && (!low_ || header.p_vaddr < *low_)) low_ = header.p_vaddr;
      if (header.p_type == PT_GNU_EH_FRAME) Read(elf, header);
    }
  }
  const std::vector<uint64_t>& addresses() const { return addresses_; }
  uint64_t low() const { return low_.value_or(0) & ~4095ULL; }

 private:
  void Read(Elf* elf, const GElf_Phdr& header) {
    // Version 1, then three encodings: .eh_frame's address; an unsigned 4-byte count; pairs of
    // signed 4-byte offsets.
    constexpr uint8_t kHead[] = {1, 0x1b, 0x03, 0x3b};
    size_t size = 0;
    const char* image = elf_rawfile(elf, &size);
    if (image == nullptr || header.p_filesz < 12 || header.p_offset > size ||
        header.p_filesz > size - header.p_offset)
      return;
    const char* table = image + header.p_offset;
    uint32_t count = 0;
    std::memcpy(&count, table + 8, sizeof count);
    if (hash_ != 0 && HashOfTable(table, header.p_filesz) != hash_) return;
    if (std::memcmp(table, kHead, sizeof kHead) != 0 || count > (header.p_filesz - 12) / 8) return;
    for (uint32_t i = 0; i < count; i++) {
      int32_t offset = 0;
      std::memcpy(&offset, table + 12 + 8ULL * i, sizeof offset);
      addresses_.push_back(header.p_vaddr + static_cast<uint64_t>(int64_t{offset}));
    }
  }
  const uint64_t hash_;
  std::vector<uint64_t> addresses_;
  std::optional<uint64_t> low_;
};

// Where a register of the caller is saved: bytes from the CFA, kSame or kGone; none if a row cannot
// say it.
std::optional<int16_t> SavedAt(Dwarf_Frame* frame, int number) {
  Dwarf_Op memory[3], *operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_register(frame, number, memory, &operations, &count) != 0) return std::nullopt;
  if (count == 0) return operations == nullptr ? UnwindRow::kSame : UnwindRow::kGone;
  if (operations[0].atom != DW_OP_call_frame_cfa) return std::nullopt;
  if (count == 1) return 0;
  const auto offset = static_cast<int64_t>(operations[1].number);
  if (count != 2 || operations[1].atom != DW_OP_plus_uconst || offset <= UnwindRow::kGone ||
      offset > INT16_MAX)
    return std::nullopt;
  return static_cast<int16_t>(offset);
}

// The row of `frame`; one of base kUnknown if a row cannot say what `frame` says.
UnwindRow RowOf(Dwarf_Frame* frame, const Numbers& numbers) {
  UnwindRow row{};
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &operations, &count) != 0 || count != 1 ||
      operations[0].atom != DW_OP_bregx)
    return row;
  const auto base = static_cast<int>(operations[0].number);
  const auto fp = SavedAt(frame, numbers.fp), ra = SavedAt(frame, numbers.ra);
  if ((base != numbers.sp && base != numbers.fp) || !fp || !ra) return row;
  row.cfa = static_cast<int32_t>(operations[0].number2);
  row.fp = *fp;
  row.ra = *ra;
  row.base = base == numbers.sp ? UnwindRow::kSp : UnwindRow::kFp;
  return row;
}

// In the procedure linkage table, the linker describes all entries at once:
// CFA = rsp + 8 + ((rip & 15) >= N) * 8, as an entry pushes a word before it resolves its function.
// Returns N; 0 if `frame` says anything else.
uint64_t PushesFrom(Dwarf_Frame* frame) {
  constexpr uint8_t kAtoms[] = {DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
                                DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus};
  constexpr size_t kBoundary = 4;  // the operation that says N
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_frame_cfa(frame, &operations, &count) != 0 || count != std::size(kAtoms)) return 0;
  for (size_t i = 0; i < count; i++)
    if (i != kBoundary && operations[i].atom != kAtoms[i]) return 0;
  const uint8_t boundary = operations[kBoundary].atom;
  return operations[0].number == 8 && operations[1].number == 0 && boundary > DW_OP_lit0 &&
                 boundary < DW_OP_lit16
             ? boundary - DW_OP_lit0
             : 0;
}

void Append(std::vector<UnwindRow>& rows, uint64_t begin, UnwindRow row) {
  row.begin = static_cast<uint32_t>(begin);
  if (!rows.empty() && rows.back().begin == row.begin) rows.pop_back();
  rows.push_back(row);
}

// Appends the rows of the procedure linkage table's entries from `begin` to `end`, which push a
// word before their byte `pushes`.
void AppendLinkage(std::vector<UnwindRow>& rows, uint64_t begin, uint64_t end, uint64_t pushes) {
  constexpr uint64_t kEntry = 16;  // bytes
  for (uint64_t at = begin; at < end; at += kEntry - at % kEntry) {
    if (at % kEntry < pushes) Append(rows, at, {0, 8, UnwindRow::kSame, -8, UnwindRow::kSp});
    const uint64_t later = at - at % kEntry + pushes;
    if (later < end)
      Append(rows, std::max(at, later), {0, 16, UnwindRow::kSame, -8, UnwindRow::kSp});
  }
}

// Appends the rows of the function at `start` and of functions that follow without a gap, then a
// row of base kUnknown.
void AppendFunctions(std::vector<UnwindRow>& rows, Dwarf_CFI* cfi, uint64_t start, uint64_t low,
                     const Numbers& numbers) {
  for (uint64_t pc = start;;) {
    Dwarf_Frame* found = nullptr;
    if (dwarf_cfi_addrframe(cfi, pc, &found) != 0) return;
    const std::unique_ptr<Dwarf_Frame, Closer> frame(found);
    Dwarf_Addr begin = 0, end = 0;
    bool signal = false;
    dwarf_frame_info(found, &begin, &end, &signal);
    if (end <= pc || end - low > UINT32_MAX) return;
    if (const uint64_t pushes = numbers.machine == EM_X86_64 ? PushesFrom(found) : 0; pushes != 0)
      AppendLinkage(rows, pc - low, end - low, pushes);
    else
      Append(rows, pc - low, RowOf(found, numbers));
    Append(rows, end - low, UnwindRow{});
    pc = end;
  }
}

std::vector<UnwindRow> Read(const ElfFile& file, uint64_t hash) {
  std::vector<UnwindRow> rows;
  const auto* numbers = std::find_if(std::begin(kNumbers), std::end(kNumbers),
                                     [&](const auto& n) { return n.machine == file.machine(); });
  if (numbers == std::end(kNumbers)) return rows;
  const std::unique_ptr<Dwarf_CFI, Closer> cfi(dwarf_getcfi_elf(file.get()));
  if (cfi == nullptr) return rows;
  const FunctionStarts starts(file.get(), hash);
  for (const uint64_t start : starts.addresses())
    if (rows.empty() || start - starts.low() >= rows.back().begin)
      AppendFunctions(rows, cfi.get(), start, starts.low(), *numbers);
  rows.shrink_to_fit();
  return rows;
}

}  // namespace

uint64_t HashOfTable(const char* table, size_t bytes) {
  return std::hash<std::string_view>()({table, bytes}) | 1;
}

std::vector<UnwindRow> ReadUnwindRows(const std::string& path, uint64_t image, uint64_t hash) {
  if (!path.empty()) return Read(ElfFile(path), hash);
  // The kernel's own library is in memory as it is in a file, its section headers last.
  auto* bytes = reinterpret_cast<char*>(image);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  const size_t size = header.e_shoff + size_t{header.e_shentsize} * header.e_shnum;
  return Read(ElfFile(std::span(bytes, size)), hash);
}

}  // namespace walkhammer::asgst
