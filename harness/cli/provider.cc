// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/provider.h"

#include <elf.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "harness/base/function_ref.h"
#include "harness/base/text.h"
#include "harness/elf/elf_functions.h"
#include "harness/ipc/line_state.h"
#include "harness/request/lookup.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr char kJdk[] = "jdk", kRef[] = "ref";
constexpr std::string_view kPlugin = "plugin", kPluginOf = "plugin:";

const WalkerInfo& Row(int walker) { return AllWalkers()[static_cast<size_t>(walker)]; }

bool IsLibrary(const std::string& text) {
  return text.find('/') != std::string::npos || text.ends_with(".so");
}

bool Has(const std::string& library, const char* function) {
  return !FindFunctions(library, {function}).empty();
}

// Why the walker cannot walk in `mode`; null: it can.
const char* RefusedMode(const WalkerInfo& row, std::string_view mode,
                        const ProviderChoice& provider) {
  if (row.refused_mode != nullptr) return row.refused_mode(mode);
  if (row.name != kPlugin || WalksOwnThread(mode) ||
      Has(provider.library, "walkhammer_walks_other_threads"))
    return nullptr;
  return "the plugin does not export walkhammer_walks_other_threads";
}

// Rewrites each name of the lists.
void ForEachName(std::vector<std::string>& lists, FunctionRef<void(std::string&)> rewrite) {
  for (std::string& list : lists) {
    std::vector<std::string> names = Split(list, ',');
    for (std::string& name : names) rewrite(name);
    list = fmt::format("{}", fmt::join(names, ","));
  }
}

// Names the provider of each walker but the plugin, whose library is not meant for the others.
void KeepProviders(std::vector<std::string>& lists) {
  ForEachName(lists, [](std::string& name) {
    const auto walker = FindWalker(name);
    if (walker && name != kPlugin && name.find('@') == name.npos)
      name += fmt::format("@{}", Row(*walker).provider);
  });
}

}  // namespace

Result<ProviderChoice> ProviderNamed(const std::string& text) {
  if (text.empty() || text == kJdk || text == kRef) return ProviderChoice{text, ""};
  if (!IsLibrary(text))
    return BadInput(fmt::format(
        "--provider must be jdk, ref or the path of a library (./FILE.so), not \"{}\"", text));
  std::error_code error;
  const auto path = std::filesystem::canonical(text, error);
  if (error || !std::filesystem::is_regular_file(path, error))
    return BadInput(fmt::format("--provider: there is no library {}", text));
  char magic[4] = {};
  std::ifstream(path, std::ios::binary).read(magic, sizeof magic);
  if (std::memcmp(magic, ELFMAG, SELFMAG) != 0)
    return BadInput(fmt::format("--provider: {} is not a library", text));
  return ProviderChoice{kJdk, path};
}

Result<std::string> ProviderLibraryNamed(const std::string& text) {
  if (!text.empty() && !IsLibrary(text))
    return BadInput(
        fmt::format("--library must be the path of a library (./FILE.so), not \"{}\"", text));
  ASSIGN_OR_RETURN(auto choice, ProviderNamed(text));
  return choice.library;
}

Result<std::string> TakePlugin(std::vector<std::string>& walkers, const std::string& provider) {
  std::string library = provider;
  Status taken = Ok();
  ForEachName(walkers, [&](std::string& name) {
    if (!name.starts_with(kPluginOf)) return;
    const std::string named = name.substr(kPluginOf.size());
    if (!IsLibrary(named))
      taken = BadInput(fmt::format(
          "--walker plugin:FILE.so must name a library (./FILE.so), not \"{}\"", named));
    else if (!library.empty() && library != named)
      taken = BadInput(fmt::format("one library at a time: {} or {}", library, named));
    library = named;
    name = kPlugin;
  });
  RETURN_IF_ERROR(taken);
  if (provider.empty() && !library.empty()) KeepProviders(walkers);
  return library;
}

Result<int> WalkerNamed(std::string_view name, const ProviderChoice& provider) {
  auto own = WalkerNamed(name);
  if (!own.ok() || provider.word.empty()) return own;
  if (name == "agct" && !provider.library.empty() && Has(provider.library, "AsyncGetCallTrace"))
    return FindWalker("agct-library").value();
  const size_t at = name.find('@');
  // Beside a walker out of a library, the reference can be named.
  if (!provider.library.empty() && at != name.npos && name.substr(at + 1) == kRef) return own;
  const bool agrees = at == name.npos || name.substr(at + 1) == provider.word;
  const auto found = FindWalker(fmt::format("{}@{}", name.substr(0, at), provider.word));
  if (agrees && found) return *found;
  return BadInput(fmt::format("{} comes from provider {}, not from \"{}\"", name,
                              Row(own.value()).provider, provider.word));
}

Result<std::vector<int>> WalkersNamed(const std::vector<std::string>& lists,
                                      const ProviderChoice& provider) {
  std::vector<std::string> names;
  for (const std::string& list : lists)
    for (std::string& name : Split(list, ',')) names.push_back(std::move(name));
  if (lists.empty()) names.push_back("agct");
  std::vector<int> walkers;
  Status uses = Ok();  // one walker must use the library
  for (const std::string& name : names) {
    ASSIGN_OR_RETURN(auto walker, WalkerNamed(name, provider));
    Status used = CheckUses(walker, provider);
    if (walkers.empty() || used.ok()) uses = used;
    walkers.push_back(walker);
  }
  if (!uses.ok()) return uses.failure();
  if (walkers.empty()) return BadInput("--walker names no walker");
  if (walkers.size() > kMaxWalkers)
    return BadInput(fmt::format("at most {} walkers can be compared", kMaxWalkers));
  return walkers;
}

Status CheckMode(const std::vector<int>& walkers, std::string_view mode,
                 const ProviderChoice& provider) {
  for (const int walker : walkers) {
    const WalkerInfo& row = Row(walker);
    const char* reason = RefusedMode(row, mode, provider);
    if (reason != nullptr)
      return BadInput(fmt::format("{} cannot be walked in mode {}: {}", row.name, mode, reason));
  }
  return Ok();
}

std::string ProviderOf(int walker, const ProviderChoice& provider) {
  const WalkerInfo& row = Row(walker);
  return row.replaceable && !provider.library.empty() ? provider.library : row.provider;
}

Status CheckUses(int walker, const ProviderChoice& provider) {
  const WalkerInfo& row = Row(walker);
  if (provider.library.empty() || row.replaceable) return Ok();
  std::string others;
  for (const WalkerInfo& other : AllWalkers())
    if (other.replaceable) others += fmt::format("{}{}", others.empty() ? "" : ", ", other.name);
  return BadInput(
      fmt::format("{} uses no library: --provider FILE.so is for {}", row.name, others));
}

}  // namespace walkhammer
