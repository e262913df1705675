// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/occurrence.h"

#include "harness/base/names.h"
#include "harness/base/shell.h"

namespace walkhammer {

ReplayWords WordsFor(const Jdk& jdk, const std::vector<std::string>& jvm_flags,
                     const std::string& library) {
  ReplayWords words;
  words.jdk = jdk.home + " (" + jdk.version + ")";
  words.command = ShellWord(BesideExecutable("walkhammer"));
  words.options = " --jdk " + ShellWord(jdk.home);
  if (!library.empty()) words.options += " --library " + ShellWord(library);
  if (!jvm_flags.empty()) words.options += " -- " + ShellCommand(jvm_flags);
  return words;
}

}  // namespace walkhammer
