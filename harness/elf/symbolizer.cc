// SPDX-License-Identifier: Apache-2.0
#include "harness/elf/symbolizer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "harness/elf/demangle.h"
#include "harness/elf/disassembler.h"
#include "harness/elf/elf_file.h"

namespace walkhammer {
struct FunctionSymbol {
  uint64_t address;  // ELF virtual address
  uint64_t end;      // exclusive
  const char* name;  // mangled; lives as long as its ElfFile
  int rank;          // 0 global, 1 weak, 2 local
};

namespace {

// True if `a` comes before `b`. Which of an address's names a site gets must depend neither on the
// file's order nor on whether local aliases are known.
bool Before(const FunctionSymbol& a, const FunctionSymbol& b) {
  if (a.address != b.address) return a.address < b.address;
  if (a.end != b.end) return a.end < b.end;
  if (a.rank != b.rank) return a.rank < b.rank;
  return std::strcmp(a.name, b.name) < 0;
}

void AddSymbols(const ElfFile& file, const ElfSection& table,
                const std::vector<ElfSection>& sections, std::vector<FunctionSymbol>& functions) {
  file.EachSymbol(table, [&](const GElf_Sym& symbol, const char* name) {
    const int type = GELF_ST_TYPE(symbol.st_info);
    if (type != STT_FUNC && type != STT_GNU_IFUNC) return;
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx > sections.size()) return;
    const GElf_Shdr& section = sections[symbol.st_shndx - 1].header;
    // Hand-written assembly often states no size: the end is then the section's, but the next
    // function takes precedence.
    const uint64_t end =
        symbol.st_size != 0 ? symbol.st_value + symbol.st_size : section.sh_addr + section.sh_size;
    const int binding = GELF_ST_BIND(symbol.st_info);
    const int rank = binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0;
    functions.push_back({symbol.st_value, end, name, rank});
  });
}

void ReadFunctions(const ElfFile& file, std::vector<FunctionSymbol>& functions) {
  const auto sections = file.Sections();
  for (const ElfSection& s : sections)
    if (s.header.sh_type == SHT_SYMTAB || s.header.sh_type == SHT_DYNSYM)
      AddSymbols(file, s, sections, functions);
  std::sort(functions.begin(), functions.end(), Before);
}

// The innermost function that covers `address`; null if none does.
const FunctionSymbol* FindFunction(const std::vector<FunctionSymbol>& functions, uint64_t address) {
  auto after = std::upper_bound(functions.begin(), functions.end(), address,
                                [](uint64_t a, const FunctionSymbol& f) { return a < f.address; });
  // Labels may be inside a larger function, so the nearest symbol need not be the symbol that
  // covers the address. Sixteen is far above any nesting seen.
  const FunctionSymbol* best = nullptr;
  for (int tries = 0; tries < 16 && after != functions.begin(); tries++) {
    const FunctionSymbol& candidate = *--after;
    if (best != nullptr && candidate.address != best->address) break;
    if (address < candidate.end) best = &candidate;
  }
  return best;
}

// The file's bytes from the virtual address to the end of its section; empty if there are none.
std::span<const uint8_t> BytesAt(const ElfFile& file, uint64_t address) {
  for (const ElfSection& s : file.Sections()) {
    const GElf_Shdr& header = s.header;
    if (header.sh_type != SHT_PROGBITS || (header.sh_flags & SHF_ALLOC) == 0 ||
        address < header.sh_addr || address - header.sh_addr >= header.sh_size)
      continue;
    const Elf_Data* data = elf_rawdata(s.section, nullptr);
    const size_t skipped = address - header.sh_addr;
    if (data == nullptr || data->d_buf == nullptr || data->d_size <= skipped) return {};
    return {static_cast<const uint8_t*>(data->d_buf) + skipped, data->d_size - skipped};
  }
  return {};
}

std::string FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

struct Symbolizer::Image {
  std::string path, file_name, build_id;
  uint64_t start = 0, end = 0, bias = 0;
  bool read = false;
  std::vector<std::unique_ptr<ElfFile>> files;  // own the names in `functions`
  std::vector<FunctionSymbol> functions;

  void Read() {
    if (read) return;
    read = true;
    auto file = std::make_unique<ElfFile>(path);
    if (file->get() == nullptr) return;
    // A file that was replaced since it was mapped would give wrong names.
    const std::string id_now = file->BuildId();
    if (build_id.empty()) build_id = id_now;
    if (id_now != build_id) return;
    const bool stripped = !file->Has(SHT_SYMTAB);
    ReadFunctions(*file, functions);
    files.push_back(std::move(file));
    const std::string debug = stripped ? FindDebugFile(path) : "";
    if (debug.empty()) return;
    files.push_back(std::make_unique<ElfFile>(debug));
    ReadFunctions(*files.back(), functions);
  }
};

Symbolizer::Symbolizer(std::span<const Module> modules) {
  for (const Module& module : modules) {
    auto image = std::make_unique<Image>();
    image->path.assign(module.path, strnlen(module.path, sizeof(module.path)));
    image->file_name = FileName(image->path);
    image->build_id.assign(module.build_id, strnlen(module.build_id, sizeof(module.build_id)));
    image->start = module.start;
    image->end = module.end;
    image->bias = module.bias;
    images_.push_back(std::move(image));
  }
}

Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

Site Symbolizer::Resolve(uint64_t pc) const {
  Site site;
  for (const auto& image : images_) {
    if (pc < image->start || pc >= image->end) continue;
    image->Read();
    site.module = image->file_name;
    site.build_id = image->build_id;
    site.module_offset = pc - image->bias;
    if (const FunctionSymbol* function = FindFunction(image->functions, site.module_offset)) {
      site.function = Demangle(function->name);
      site.function_base = FunctionBase(site.function);
      site.offset = site.module_offset - function->address;
    }
    break;
  }
  return site;
}

std::string Symbolizer::AccessAt(uint64_t pc) const {
  for (const auto& image : images_) {
    if (pc < image->start || pc >= image->end) continue;
    image->Read();
    if (image->files.empty()) return "";
    const ElfFile& file = *image->files.front();
    const auto disassembler = Disassembler::For(file.machine());
    const std::span<const uint8_t> code = BytesAt(file, pc - image->bias);
    return disassembler.ok() ? disassembler.value().Access(code) : "";
  }
  return "";
}

Site Symbolizer::ResolveCaller(uint64_t return_address) const {
  if (return_address == 0) return {};
  Site site = Resolve(return_address - 1);
  if (!site.in_module()) return site;
  site.module_offset++;
  if (!site.function.empty()) site.offset++;
  return site;
}

std::string SiteFunctionText(const Site& site) {
  if (!site.in_module()) return "";
  if (site.function.empty()) return fmt::format("{}+{:#x}", site.module, site.module_offset);
  return fmt::format("{}+{:#x}", site.function, site.offset);
}

std::string SiteText(const Site& site) {
  if (site.function.empty()) return SiteFunctionText(site);
  return site.module + " " + SiteFunctionText(site);
}

std::string SiteTitle(const Site& site) {
  return site.function.empty() ? SiteFunctionText(site) : site.function_base;
}

std::string FunctionBase(std::string_view demangled) {
  std::string_view text = demangled.substr(0, demangled.find(" [clone"));
  for (const char* suffix : {".part.", ".isra.", ".constprop.", ".cold", ".lto_priv."})
    text = text.substr(0, text.find(suffix));
  // The argument list is the last group of parentheses; only qualifiers may follow it.
  const size_t close = text.rfind(')');
  if (close != std::string_view::npos && close > 0) {
    const std::string_view after = text.substr(close + 1);
    int depth = 0;
    size_t open = close + 1;
    while (open > 0) {
      const char c = text[--open];
      if (c == ')') depth++;
      if (c == '(' && --depth == 0) break;
    }
    if (depth == 0 && open > 0 && after.find("::") == std::string_view::npos)
      text = text.substr(0, open);
  }
  // Templates state their return type, which ends at the last space outside of all brackets. The
  // name of an operator may itself contain spaces and angle brackets.
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); i++) {
    const char c = text[i];
    if (depth == 0 && text.substr(i).starts_with("operator") &&
        (i == 0 || !IsNameChar(text[i - 1])) && (i + 8 >= text.size() || !IsNameChar(text[i + 8])))
      break;
    if (c == '(' || c == '<' || c == '{' || c == '[') depth++;
    if (c == ')' || c == '>' || c == '}' || c == ']') depth--;
    if (c == ' ' && depth == 0 && !text.substr(i + 1).starts_with("const")) start = i + 1;
  }
  return std::string(text.substr(start));
}

}  // namespace walkhammer
