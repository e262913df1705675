// SPDX-License-Identifier: Apache-2.0
#include "reports/code_listing.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "harness/base/numbers.h"
#include "harness/elf/demangle.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {
namespace {

constexpr size_t kEntriesShown = 6;

// The index of the block that begins at or before `address`, or -1.
int64_t BlockAt(const CoverageRows& code, uint64_t address) {
  const auto after =
      std::upper_bound(code.blocks.begin(), code.blocks.end(), address,
                       [](uint64_t a, const CoverageBlockRow& block) { return a < block.address; });
  return after - code.blocks.begin() - 1;
}

// True if the functions' bounds show the same file: for files without a build id.
bool SameFunctions(const ElfImage& image, const CoverageRows& code) {
  return std::all_of(code.functions.begin(), code.functions.end(),
                     [&](const CoverageFunctionRow& function) {
                       const ElfImage::Symbol* symbol = image.FunctionAt(function.address);
                       return symbol != nullptr && symbol->address == function.address &&
                              symbol->size >= function.size;
                     });
}

// True if functions and blocks take no more bytes than the file has: all of each is disassembled,
// so an untrusted run folder could otherwise name the whole file many times.
bool FitsInto(const CoverageRows& code) {
  std::error_code error;
  const uint64_t most = std::filesystem::file_size(code.file, error);
  uint64_t functions = 0, blocks = 0;
  for (const CoverageFunctionRow& function : code.functions) {
    if (function.size > most) return false;
    functions += function.size;
  }
  for (const CoverageBlockRow& block : code.blocks) blocks += block.size;
  return !error && functions <= most && blocks <= most;
}

}  // namespace

Result<CodeListing> CodeListing::Open(const CoverageRows& code) {
  const auto unable = [&](const char* why) {
    return Unable(
        fmt::format("{}: {}, so there is no code to show. Put the file that was tested (build id "
                    "{}) back there, or read coverage.txt of the run",
                    code.file, why, code.build_id.empty() ? "unknown" : code.build_id));
  };
  if (access(code.file.c_str(), R_OK) != 0) return unable("is gone or cannot be read");
  if (BuildIdOf(code.file) != code.build_id) return unable("is another build than the run tested");
  ASSIGN_OR_RETURN(auto image, ElfImage::Open(code.file));
  if (!FitsInto(code) || (code.build_id.empty() && !SameFunctions(image, code)))
    return unable("is another build than the run tested");
  ASSIGN_OR_RETURN(auto disassembler, Disassembler::For(image.machine()));
  return CodeListing(code, std::move(image), std::move(disassembler));
}

CodeListing::CodeListing(const CoverageRows& code, ElfImage image, Disassembler disassembler)
    : code_(&code),
      image_(std::move(image)),
      disassembler_(std::move(disassembler)),
      entries_(code.blocks.size()) {
  for (size_t i = 0; i < code.functions.size(); i++) FindEntries(i);
}

void CodeListing::FindEntries(size_t function) {
  const CoverageFunctionRow& row = code_->functions[function];
  auto bytes = image_.Bytes(row.address);
  bytes = bytes.first(std::min<size_t>(bytes.size(), row.size));
  for (const Instruction& insn : disassembler_.Sweep(bytes, row.address)) {
    const int64_t at = BlockAt(*code_, insn.address);
    if (at < 0) continue;
    const auto from = static_cast<uint32_t>(at);
    const bool call = insn.kind == Instruction::Kind::kCall;
    if (insn.target != 0) {
      const int64_t to = BlockAt(*code_, insn.target);
      if (to >= 0 && code_->blocks[static_cast<size_t>(to)].address == insn.target)
        AddEntry(from, static_cast<uint32_t>(to), call);
    }
    const uint32_t next = from + 1;
    if (insn.FallsThrough() && next < code_->blocks.size() &&
        code_->blocks[next].address == insn.end() && code_->blocks[next].function == function)
      AddEntry(from, next, false);
  }
}

void CodeListing::AddEntry(uint32_t from, uint32_t to, bool call) {
  std::vector<Entry>& entries = entries_[to];
  const bool known = std::any_of(entries.begin(), entries.end(),
                                 [&](const Entry& entry) { return entry.from == from; });
  if (from != to && !known) entries.push_back({from, call});
}

std::string CodeListing::EntriesText(uint32_t block) const {
  std::vector<Entry> entries = entries_[block];
  std::stable_partition(entries.begin(), entries.end(),
                        [&](const Entry& entry) { return Reached(entry.from); });
  std::string text;
  for (size_t i = 0; i < entries.size() && i < kEntriesShown; i++) {
    const CoverageBlockRow& from = code_->blocks[entries[i].from];
    text += fmt::format("{}{:#x} ({}{})", i == 0 ? "from " : ", ", from.address,
                        Reached(entries[i].from) ? "reached" : "not reached",
                        entries[i].call ? ", a call" : "");
    if (from.function != code_->blocks[block].function)
      text += " of " + code_->functions[from.function].name;
  }
  if (entries.size() > kEntriesShown)
    text += fmt::format(" and {} more", Grouped(entries.size() - kEntriesShown));
  if (entries.empty()) text = "nothing leads here directly";
  return "    " + text + "\n";
}

std::string CodeListing::TargetText(const Instruction& insn, uint32_t function) const {
  const ElfImage::Symbol* target = insn.target == 0 ? nullptr : image_.FunctionAt(insn.target);
  if (target == nullptr || target->address == code_->functions[function].address) return "";
  const uint64_t offset = insn.target - target->address;
  return fmt::format("  <{}{}>", Demangle(target->name),
                     offset == 0 ? "" : fmt::format("+{:#x}", offset));
}

std::string CodeListing::BlockText(uint32_t block) const {
  const CoverageBlockRow& row = code_->blocks[block];
  auto bytes = image_.Bytes(row.address);
  bytes = bytes.first(std::min<size_t>(bytes.size(), row.size));
  std::string text = Reached(block) ? "" : EntriesText(block);
  const std::vector<Instruction> code = disassembler_.Sweep(bytes, row.address);
  const std::vector<Disassembler::Line> lines = disassembler_.Text(bytes, row.address);
  for (size_t i = 0; i < lines.size(); i++) {
    text += fmt::format("  {} {:#x}  {}{}\n", Reached(block) ? '+' : '-', lines[i].address,
                        lines[i].text, i < code.size() ? TargetText(code[i], row.function) : "");
  }
  return text;
}

std::string CodeListing::Unreached(size_t function) const {
  const CoverageFunctionRow& row = code_->functions[function];
  const uint32_t end = row.first_block + row.blocks;
  std::vector<bool> shown(row.blocks);
  uint32_t unreached = 0;
  const auto show = [&](uint32_t block) {
    if (block >= row.first_block && block < end) shown[block - row.first_block] = true;
  };
  for (uint32_t block = row.first_block; block < end; block++) {
    if (Reached(block)) continue;
    unreached++;
    show(block - 1);
    show(block);
    show(block + 1);
    for (const Entry& entry : entries_[block]) show(entry.from);
  }
  std::string text =
      fmt::format("{}\n{:#x}, {}: {} of {} not reached\n", row.name, row.address,
                  Counted(row.size, "byte"), Grouped(unreached), Counted(row.blocks, "block"));
  uint32_t skipped = 0;
  const auto tell_skipped = [&] {
    if (skipped > 0) text += fmt::format("    ... {} reached\n", Counted(skipped, "block"));
    skipped = 0;
  };
  for (uint32_t block = row.first_block; block < end; block++) {
    if (!shown[block - row.first_block]) {
      skipped++;
      continue;
    }
    tell_skipped();
    text += BlockText(block);
  }
  tell_skipped();
  return text;
}

}  // namespace walkhammer
