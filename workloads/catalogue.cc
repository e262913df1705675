// SPDX-License-Identifier: Apache-2.0
#include "workloads/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>

#include "harness/base/nearest.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "workloads/stanzas.h"

namespace walkhammer {
namespace {

constexpr size_t kNearestShown = 3;
constexpr char kSuffix[] = ".catalogue";

Failure At(const std::string& where, std::string_view message) {
  return BadInput(fmt::format("{}: {}", where, message));
}

bool ReadNumber(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number > 0;
}

// "17..21", "17..", "..21"
bool ReadRange(std::string_view text, Workload& workload) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos || text.size() == 2) return false;
  const std::string_view oldest = text.substr(0, dots), newest = text.substr(dots + 2);
  return (oldest.empty() || ReadNumber(oldest, workload.oldest_jdk)) &&
         (newest.empty() || ReadNumber(newest, workload.newest_jdk)) &&
         workload.oldest_jdk <= workload.newest_jdk;
}

// Splits a class path at ':'. Spaces around the parts, as of continued lines, are dropped.
std::vector<std::string> SplitPath(const std::string& text) {
  std::vector<std::string> parts;
  for (const std::string& part : Split(text, ':')) {
    const std::vector<std::string> words = Words(part);
    if (!words.empty()) parts.push_back(fmt::format("{}", fmt::join(words, " ")));
  }
  return parts;
}

constexpr std::string_view kStanzaKeys[] = {
    "name", "what",  "packages",  "classpath", "main",   "jar",
    "args", "flags", "jdk",       "why",       "input",  "file",
    "list", "sizes", "iteration", "failure",   "repeat", "defaults"};
constexpr char kUsualSize[] = "default";

Status SetFlagsFrom(const StanzaLine& line, Workload& workload) {
  int feature = 0;
  if (!ReadNumber(std::string_view(line.key).substr(6), feature)) {
    return At(line.where, fmt::format("\"{}\" does not name a JDK, as flags-25 does", line.key));
  }
  workload.flags_from[feature] = Words(line.value);
  return Ok();
}

Status SetValue(const StanzaLine& line, Workload& workload) {
  const auto& [key, value, where] = line;
  if (key.starts_with("flags-")) return SetFlagsFrom(line, workload);
  if (std::find(std::begin(kStanzaKeys), std::end(kStanzaKeys), key) == std::end(kStanzaKeys)) {
    return At(where, fmt::format("there is no key \"{}\"; nearest: {}", key,
                                 fmt::join(NearestNames(key, kStanzaKeys, kNearestShown), ", ")));
  }
  if (key == "name") {
    if (!IsWorkloadName(value))
      return At(where, fmt::format("\"{}\" is not a name: a-z, 0-9, - and .", value));
    workload.name = value;
  } else if (key == "what") {
    workload.what = value;
  } else if (key == "packages") {
    workload.packages = Words(value);
  } else if (key == "classpath") {
    workload.classpath = SplitPath(value);
  } else if (key == "main") {
    workload.main = value;
  } else if (key == "jar") {
    workload.jar = value;
  } else if (key == "args") {
    workload.args = Words(value);
  } else if (key == "flags") {
    workload.flags = Words(value);
  } else if (key == "jdk") {
    if (!ReadRange(value, workload)) {
      return At(where,
                fmt::format("\"{}\" is not a range of JDKs such as 17.., ..21, 17..21", value));
    }
  } else if (key == "why") {
    workload.why = value;
  } else if (key == "input") {
    workload.input = value;
  } else if (key == "file") {
    workload.file = value;
  } else if (key == "list") {
    workload.list = Words(value);
  } else if (key == "sizes") {
    workload.sizes = Words(value);
    if (!workload.HasSize(kUsualSize)) return At(where, "sizes must include \"default\"");
  } else if (key == "iteration") {
    workload.iteration = value;
  } else if (key == "failure") {
    workload.failure = value;
  } else if (key == "repeat") {
    if (value != "yes" && value != "no") return At(where, "repeat is yes or no");
    workload.repeat = value == "yes";
  }
  return Ok();
}

Status CheckPlaceholders(const Workload& workload) {
  std::vector<std::string> texts = workload.classpath;
  texts.insert(texts.end(), workload.args.begin(), workload.args.end());
  texts.insert(texts.end(), workload.flags.begin(), workload.flags.end());
  for (const auto& [feature, flags] : workload.flags_from) {
    texts.insert(texts.end(), flags.begin(), flags.end());
  }
  texts.push_back(workload.jar);
  for (const std::string& text : texts) {
    for (const std::string& name : PlaceholdersIn(text)) {
      if (!IsPlaceholder(name)) {
        return At(workload.where,
                  fmt::format("there is no placeholder {{{}}} for \"{}\"; there are {{{}}}", name,
                              text, fmt::join(kPlaceholders, "}, {")));
      }
      const std::string key = name == "size" ? "sizes" : name;
      if ((key == "input" && workload.input.empty()) || (key == "file" && workload.file.empty()) ||
          (key == "sizes" && workload.sizes.empty())) {
        return At(workload.where, fmt::format("\"{}\" needs a line \"{}:\"", text, key));
      }
    }
  }
  return Ok();
}

// Checks what one stanza alone shows: whether it is complete and not contradictory.
Status CheckWhole(const Workload& workload) {
  const auto lacks = [&](std::string_view key) {
    return At(workload.where, fmt::format("this workload has no \"{}:\"", key));
  };
  if (workload.name.empty()) return lacks("name");
  if (workload.what.empty()) return lacks("what");
  if (workload.main.empty() == workload.jar.empty()) {
    return At(workload.where, "a workload has one of \"main:\" and \"jar:\"");
  }
  if (!workload.main.empty() && workload.classpath.empty()) return lacks("classpath");
  if (!workload.jar.empty() && !workload.classpath.empty()) {
    return At(workload.where, "a workload with \"jar:\" has no \"classpath:\"");
  }
  const bool limited =
      workload.oldest_jdk > 0 || workload.newest_jdk < std::numeric_limits<int>::max();
  if (limited && workload.why.empty()) return lacks("why");
  return CheckPlaceholders(workload);
}

Result<std::set<std::string>> DistributionNames(const std::string& path) {
  std::set<std::string> ids;
  if (!std::filesystem::exists(path)) return ids;
  ASSIGN_OR_RETURN(auto stanzas, ReadStanzas(path));
  for (const Stanza& stanza : stanzas) {
    if (const StanzaLine* id = stanza.Find("id")) ids.insert(id->value);
  }
  return ids;
}

// `defaults` will be as of the last such stanza.
Status LoadSuite(const std::filesystem::path& path, const std::set<std::string>& distributions,
                 std::vector<Workload>& all, Workload& defaults) {
  ASSIGN_OR_RETURN(auto stanzas, ReadStanzas(path));
  defaults.suite = path.stem();
  std::map<std::string, std::string> seen;  // name -> where
  for (const Stanza& stanza : stanzas) {
    const StanzaLine* is_defaults = stanza.Find("defaults");
    if (is_defaults != nullptr && (is_defaults->value != "yes" || stanza.Find("name") != nullptr)) {
      return At(is_defaults->where, "\"defaults: yes\" begins a stanza without a name");
    }
    Workload workload;
    if (is_defaults == nullptr) workload = defaults;
    workload.suite = path.stem();
    workload.where = stanza.lines.front().where;
    for (const StanzaLine& line : stanza.lines) {
      if (Status set = SetValue(line, workload); !set.ok()) return set;
    }
    if (is_defaults != nullptr) {
      defaults = std::move(workload);
      continue;
    }
    if (Status whole = CheckWhole(workload); !whole.ok()) return whole;
    if (!workload.file.empty() && !distributions.contains(workload.file)) {
      return At(workload.where, fmt::format("there is no distribution \"{}\"", workload.file));
    }
    const auto [first, is_new] = seen.emplace(workload.name, workload.where);
    if (!is_new) {
      return At(workload.where,
                fmt::format("{} stands at {} already", workload.FullName(), first->second));
    }
    all.push_back(std::move(workload));
  }
  return Ok();
}

}  // namespace

bool IsWorkloadName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

Result<std::vector<Workload>> LoadCatalogues(const std::string& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == kSuffix) paths.push_back(entry.path());
  }
  if (paths.empty()) {
    // ci/quickstart.sh builds what fuzz needs.
    const std::filesystem::path above = std::filesystem::path(folder).parent_path();
    const bool is_build = std::filesystem::exists(above / "CMakeCache.txt", error);
    return ToolFailed(
        fmt::format("no *{} in {}: {}", kSuffix, folder,
                    is_build ? fmt::format("run: cmake --build {}", ShellWord(above.string()))
                             : "this installation of walkhammer is incomplete"));
  }
  std::sort(paths.begin(), paths.end());
  ASSIGN_OR_RETURN(auto distributions, DistributionNames(folder + "/distributions"));
  std::vector<Workload> all;
  for (const std::filesystem::path& path : paths) {
    Workload defaults;
    RETURN_IF_ERROR(LoadSuite(path, distributions, all, defaults));
  }
  return all;
}

Result<Workload> UnlistedWorkload(const std::string& folder, const std::string& suite,
                                  const std::string& name) {
  ASSIGN_OR_RETURN(auto distributions, DistributionNames(folder + "/distributions"));
  std::vector<Workload> all;
  Workload workload;
  RETURN_IF_ERROR(LoadSuite(folder + "/" + suite + kSuffix, distributions, all, workload));
  workload.name = name;
  workload.what = "in the archive, and not in the catalogue";
  return workload;
}

Result<std::vector<const Workload*>> SelectWorkloads(const std::vector<Workload>& all,
                                                     const std::vector<std::string>& patterns) {
  std::vector<const Workload*> chosen;
  for (const std::string& pattern : patterns) {
    bool matched = false;
    for (const Workload& workload : all) {
      if (fnmatch(pattern.c_str(), workload.FullName().c_str(), 0) != 0) continue;
      matched = true;
      if (std::find(chosen.begin(), chosen.end(), &workload) == chosen.end()) {
        chosen.push_back(&workload);
      }
    }
    if (matched) continue;
    std::vector<std::string> owned;
    for (const Workload& workload : all) owned.push_back(workload.FullName());
    const std::vector<std::string_view> names(owned.begin(), owned.end());
    return BadInput(fmt::format(
        "there is no workload \"{}\"; nearest: {} (walkhammer show workloads names all)", pattern,
        fmt::join(NearestNames(pattern, names, kNearestShown), ", ")));
  }
  return chosen;
}

}  // namespace walkhammer
