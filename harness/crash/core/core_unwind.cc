// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/core_unwind.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>

#include "harness/asgst/unwind/unwind_service.h"

namespace walkhammer {
namespace {

constexpr size_t kMostLibraries = 512;

struct Library {
  const CoreMapping* first = nullptr;
  uint64_t end = 0;
  bool has_code = false;
};

// The bytes of the kernel's library at `area`, whole; empty if it is none.
std::vector<uint64_t> KernelLibraryAt(const CoreFile& core, const CoreArea& area) {
  constexpr uint64_t kMostBytes = 1 << 16;
  std::vector<uint64_t> words;
  uint64_t word = 0;
  if (!area.executable || area.end - area.begin > kMostBytes || (area.begin & 7) != 0 ||
      core.MappingOf(area.begin) != nullptr || !core.ReadWord(area.begin, word) ||
      std::memcmp(&word, ELFMAG, SELFMAG) != 0)
    return words;
  for (uint64_t at = area.begin; at < area.end && core.ReadWord(at, word); at += 8)
    words.push_back(word);
  Elf64_Ehdr header{};
  const uint64_t bytes = 8 * words.size();
  if (bytes < sizeof header) return {};
  std::memcpy(&header, words.data(), sizeof header);
  const uint64_t sections = uint64_t{header.e_shentsize} * header.e_shnum;
  if (header.e_shoff > bytes || sections > bytes - header.e_shoff) return {};
  return words;
}

}  // namespace

CoreUnwind::CoreUnwind(const CoreFile& core) {
  AddLibraries(core);
  AddKernelLibrary(core);
  std::sort(modules_.begin(), modules_.end(),
            [](const auto& a, const auto& b) { return a.low < b.low; });
  uint64_t end = 0;
  std::erase_if(modules_, [&](const asgst::UnwindModule& module) {
    const bool overlaps = module.low < end || module.high <= module.low;
    if (!overlaps) end = module.high;
    return overlaps;
  });
  published_ = modules_;
  tables_.Publish(&published_);
}

void CoreUnwind::Add(uint64_t low, uint64_t high, std::vector<asgst::UnwindRow> rows) {
  rows_.push_back(std::move(rows));
  modules_.push_back({low, high, rows_.back()});
}

void CoreUnwind::AddLibraries(const CoreFile& core) {
  std::map<std::string, Library> libraries;
  for (const CoreMapping& mapping : core.mappings()) {
    Library& library = libraries[mapping.path];
    if (library.first == nullptr) library.first = &mapping;
    library.end = mapping.end;
    const CoreArea* area = core.AreaOf(mapping.begin);
    library.has_code |= area != nullptr && area->executable;
  }
  for (const auto& [path, library] : libraries) {
    if (modules_.size() == kMostLibraries) break;
    if (!library.has_code || library.first->file_offset != 0) continue;
    const std::string file = core.FileOf(*library.first);
    // Frame pointers tell the caller where a library has no rows.
    auto rows = file.empty() || !core.IsSameFile(*library.first)
                    ? std::vector<asgst::UnwindRow>()
                    : asgst::ReadUnwindRows(file, 0, 0);
    Add(library.first->begin, library.end, std::move(rows));
  }
}

void CoreUnwind::AddKernelLibrary(const CoreFile& core) {
  for (const CoreArea& area : core.areas()) {
    std::vector<uint64_t> image = KernelLibraryAt(core, area);
    if (image.empty()) continue;
    Add(area.begin, area.end,
        asgst::ReadUnwindRows("", reinterpret_cast<uint64_t>(image.data()), 0));
    return;
  }
}

}  // namespace walkhammer
