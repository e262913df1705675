// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/environment_variables.h"

#include "harness/hs_err/characters.h"

namespace walkhammer {
namespace {

constexpr std::string_view kKnown =
    " ARCH CLASSPATH COMPUTERNAME DISPLAY FC_LANG FONTCONFIG_USE_MMAP HOME HOSTNAME HOSTTYPE "
    "JAVA_HOME JAVA_TOOL_OPTIONS JDK_JAVA_OPTIONS JRE_HOME LANG LOGNAME MACHTYPE MAIL OLDPWD OS "
    "OSTYPE PATH PROCESSOR_IDENTIFIER PWD SHELL SSH_CONNECTION TEMP TERM TMP TMPDIR TZ USER "
    "USERNAME USERPROFILE WAYLAND_DISPLAY XDG_CACHE_HOME XDG_CONFIG_HOME _ALT_JAVA_HOME_DIR "
    "_JAVA_OPTIONS _JAVA_SR_SIGNUM ";

}  // namespace

Assignment AssignmentOf(std::string_view line) {
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos || equals == 0 || IsDigit(line[0])) return {};
  for (const char c : line.substr(0, equals))
    if (!IsWordChar(c)) return {};
  return {line.substr(0, equals), line.substr(equals + 1)};
}

bool IsKnownVariable(std::string_view name) {
  for (const std::string_view begin : {"LC_", "LD_", "DYLD_"})
    if (name.starts_with(begin)) return true;
  for (size_t at = name.size() < 2 ? kKnown.npos : kKnown.find(name); at != kKnown.npos;
       at = kKnown.find(name, at + 1))
    if (kKnown[at - 1] == ' ' && kKnown[at + name.size()] == ' ') return true;
  return false;
}

Assignment FindVariable(std::string_view line, size_t from) {
  for (size_t at = line.find('=', from); at != line.npos; at = line.find('=', at + 1)) {
    size_t begin = at;
    while (begin > 0 && IsWordChar(line[begin - 1])) begin--;
    const bool is_option = begin > 0 && (line[begin - 1] == '-' || line[begin - 1] == '.');
    const std::string_view name = line.substr(begin, at - begin), value = line.substr(at + 1);
    if (is_option || !IsKnownVariable(name)) continue;
    return {name, begin == 0 ? value : value.substr(0, value.find_first_of(" \t\"'|"))};
  }
  return {};
}

}  // namespace walkhammer
