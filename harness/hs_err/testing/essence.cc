// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/testing/essence.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/text.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {

std::string EssenceOf(const CrashReport& report) {
  std::string text = report.internal.text + "\n";
  for (const char* item : {"text",         "error",
                           "signal",       "code",
                           "address",      "computed address",
                           "pc",           "tid",
                           "jdk",          "vm version",
                           "gc",           "platform",
                           "thread",       "problematic frame",
                           "frame",        "java frame",
                           "signal frame", "register",
                           "word",         "pointee",
                           "code heap"})
    for (const std::string& value : ValuesOf(report, item))
      text += fmt::format("{}: {}\n", item, value);
  if (report.instructions)
    text +=
        fmt::format("{:#x} {}\n", report.instructions->begin,
                    HexBytes(report.instructions->bytes.data(), report.instructions->bytes.size()));
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  return text;
}

std::string Difference(const std::string& read, const std::string& wanted) {
  if (read == wanted) return "";
  const std::vector<std::string> a = Split(read, '\n'), b = Split(wanted, '\n');
  size_t i = 0;
  while (i < a.size() && i < b.size() && a[i] == b[i]) i++;
  return fmt::format("{} instead of {}", i < a.size() ? a[i] : "the end",
                     i < b.size() ? b[i] : "the end");
}

}  // namespace walkhammer
