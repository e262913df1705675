// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/code_index.h"

#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <tuple>

namespace walkhammer {
namespace {

constexpr uint64_t kInstructionBytes = 16;
constexpr size_t kMostLines = 24;  // of a disassembly
constexpr uint64_t kMostCodeBytes = 16 << 20;

std::string NameOf(const StressState& state, const CodeEntry& entry) {
  if (entry.name >= StressState::kNamesBytes) return "?";
  const char* name = state.names + entry.name;
  std::string text(name, strnlen(name, StressState::kNamesBytes - entry.name));
  if (text.empty()) return "?";
  return text.substr(0, text.find("@0x"));  // an address differs in the next run
}

CodePiece PieceOf(const StressState& state, const CodeEntry& entry, uint64_t begin) {
  CodePiece code{begin, entry.end, "", NameOf(state, entry), entry.level};
  code.gone = entry.gone != 0;
  code.frame_words = std::max(entry.frame_words, 0);
  code.entry = static_cast<uint32_t>(std::max(entry.entry, 0));
  code.id = entry.id;
  code.id_at = entry.id_at;
  code.complete =
      entry.frame_complete < 0 ? UINT64_MAX : begin + static_cast<uint64_t>(entry.frame_complete);
  if (entry.kind == static_cast<uint8_t>(SymbolKind::kCodelet))
    code.kind = "codelet";
  else if (entry.kind != static_cast<uint8_t>(SymbolKind::kNmethod))
    code.kind = code.name.starts_with("I2C/C2I") ? "adapter" : "stub";
  return code;
}

// Replaces an address in `code` at the end of `text` by its offset from the start of `code`.
std::string Relative(std::string text, const CodePiece& code) {
  const size_t at = text.rfind("0x");
  if (at == std::string::npos ||
      text.find_first_not_of("0123456789abcdef", at + 2) != std::string::npos)
    return text;
  const uint64_t address = std::strtoull(text.c_str() + at + 2, nullptr, 16);
  if (address < code.begin || address >= code.end) return text;
  return text.substr(0, at) + fmt::format("+0x{:x}", address - code.begin);
}

// False if the place of an nmethod has another one's id by now.
bool IsThere(pid_t pid, const CodePiece& piece) {
  uint32_t id = 0;
  const iovec here{&id, sizeof id}, there{reinterpret_cast<void*>(piece.id_at), sizeof id};
  return piece.id_at == 0 || process_vm_readv(pid, &here, 1, &there, 1, 0) != sizeof id ||
         id == piece.id;
}

}  // namespace

void ReadBytes(pid_t pid, uint64_t begin, uint64_t end, CodePiece& piece) {
  piece.bytes.clear();
  if (pid <= 0 || end <= begin || end - begin > kMostCodeBytes) return;
  piece.bytes.resize(end - begin);
  piece.bytes_begin = begin;
  const iovec here{piece.bytes.data(), piece.bytes.size()};
  const iovec there{reinterpret_cast<void*>(begin), piece.bytes.size()};
  const ssize_t got = process_vm_readv(pid, &here, 1, &there, 1, 0);
  piece.bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  if (IsThere(pid, piece)) return;  // asked last, as no id comes again
  piece.gone = true;
  piece.bytes.clear();
}

std::string DisassemblyOf(const Disassembler& disassembler, const CodePiece& piece, uint64_t begin,
                          uint64_t end) {
  if (begin < piece.bytes_begin || end > piece.bytes_begin + piece.bytes.size()) return "";
  std::string text;
  size_t lines = 0;
  const auto bytes = std::span(piece.bytes).subspan(begin - piece.bytes_begin, end - begin);
  const auto all = disassembler.Text(bytes, begin);
  for (const Disassembler::Line& line : all) {
    if (lines++ > 0) text += '\n';
    if (lines == kMostLines && all.size() > kMostLines) return text + "...";
    text += fmt::format("+0x{:x}  {}", line.address - piece.begin, Relative(line.text, piece));
  }
  return text;
}

CodeIndex::CodeIndex(const StressState& state)
    : symbolizer_(std::span<const Module>(
          state.modules, std::min<uint32_t>(state.module_count.load(), kMaxModules))) {
  const uint32_t count = std::min(state.code_count.load(), StressState::kMaxCode);
  for (uint32_t i = 0; i < count; i++) {
    const CodeEntry& entry = state.code[i];
    const uint64_t begin = entry.begin.load(std::memory_order_acquire);
    if (begin != 0 && entry.end > begin) generated_.push_back(PieceOf(state, entry, begin));
  }
  std::sort(generated_.begin(), generated_.end(), [](const CodePiece& a, const CodePiece& b) {
    return std::tuple(a.begin, b.end) < std::tuple(b.begin, a.end);
  });
  uint64_t farthest = 0;
  for (const CodePiece& code : generated_)
    farthest_.push_back(farthest = std::max(farthest, code.end));
  for (const SteppedPc& counts : state.pcs)
    if (const uint64_t pc = counts.pc.load(); pc != 0) Find(pc).pcs.push_back(&counts);
  ForEachStepped([](CodePiece& code) {
    std::sort(code.pcs.begin(), code.pcs.end(),
              [](const SteppedPc* a, const SteppedPc* b) { return a->pc.load() < b->pc.load(); });
  });
}

CodePiece& CodeIndex::Find(uint64_t pc) {
  auto after = std::upper_bound(generated_.begin(), generated_.end(), pc,
                                [](uint64_t pc, const CodePiece& code) { return pc < code.begin; });
  CodePiece* best = nullptr;
  for (auto i = static_cast<size_t>(after - generated_.begin()); i-- > 0 && farthest_[i] > pc;) {
    CodePiece& code = generated_[i];
    if (pc >= code.end) continue;
    if (best == nullptr || std::tuple(code.gone, code.end - code.begin) <
                               std::tuple(best->gone, best->end - best->begin))
      best = &code;
  }
  return best != nullptr ? *best : Native(pc);
}

// The library function that holds `pc`, or all of a library without symbols.
CodePiece& CodeIndex::Native(uint64_t pc) {
  const Site site = symbolizer_.Resolve(pc);
  std::string name = "(no module)";
  uint64_t base = 0;
  if (site.in_module()) {
    name = site.module;
    base = pc - site.module_offset;
    if (!site.function_base.empty()) {
      name += " " + site.function_base;
      base = pc - site.offset;
    }
  }
  auto [place, is_new] = native_.try_emplace(std::pair(base, name));
  CodePiece& code = place->second;
  if (is_new) code = CodePiece{base, pc, "native", name};
  code.end = std::max(code.end, pc + kInstructionBytes);
  return code;
}

}  // namespace walkhammer
