// SPDX-License-Identifier: Apache-2.0
#include "harness/base/names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "harness/base/files.h"
#include "harness/base/mappings.h"
#include "harness/base/nearest.h"
#include "harness/base/shell.h"

namespace walkhammer {
namespace {

constexpr size_t kNearestShown = 3;
constexpr char kCommandName[] = "walkhammer";

}  // namespace

Failure UnknownName(std::string_view kind, std::string_view wanted,
                    std::span<const std::string_view> names) {
  if (names.empty()) return BadInput(fmt::format("there is no {} \"{}\"", kind, wanted));
  return BadInput(
      fmt::format("there is no {0} \"{1}\"; nearest: {2} (walkhammer show {0}s names "
                  "all)",
                  kind, wanted, fmt::join(NearestNames(wanted, names, kNearestShown), ", ")));
}

std::string OwnCommand() {
  const std::string found = FindProgram(kCommandName);
  std::error_code error;
  const bool own = !found.empty() && std::filesystem::equivalent(found, OwnProgram(), error);
  return own ? kCommandName : ShellWord(BesideExecutable(kCommandName));
}

std::string BesideExecutable(std::string_view name) {
  return std::filesystem::path(OwnProgram()).parent_path() / name;
}

}  // namespace walkhammer
