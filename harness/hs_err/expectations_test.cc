// SPDX-License-Identifier: Apache-2.0
// Whole logs, compared with the expectations at their heads (testdata/README.md).
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "harness/base/testing/sanitized.h"
#include "harness/base/text.h"
#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/crash_log.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

constexpr const char* kNone = "none";    // as a value: the report has none
constexpr const char* kGuilt = "guilt";  // harness/crash/guilt_test.cc reads it

bool IsKnown(const std::string& item) {
  const auto items = AllReportItems();
  return item == kGuilt || std::any_of(items.begin(), items.end(),
                                       [&](const ReportItem& known) { return item == known.name; });
}

// What of the log's expectations the report of its text does not meet, a line each. Without
// expectations: all that could be expected.
std::string Unmet(const CrashLog& log) {
  const CrashReport report = ParseCrashReport(log.text);
  std::string unmet;
  if (log.expectations.empty()) {
    unmet = "no line EXPECT at its head; choose of\n";
    for (const ReportItem& item : AllReportItems())
      for (const std::string& value : item.values(report))
        unmet += fmt::format("EXPECT {}: {}\n", item.name, value);
  }
  for (const auto& [item, value] : log.expectations) {
    const std::vector<std::string> values = ValuesOf(report, item);
    const bool met = value == kNone
                         ? values.empty()
                         : std::find(values.begin(), values.end(), value) != values.end();
    if (!IsKnown(item)) {
      unmet += item + " is unknown\n";
    } else if (item != kGuilt && !met) {
      unmet +=
          fmt::format("{}: {}, and not {}\n", item,
                      values.empty() ? "none" : fmt::format("{}", fmt::join(values, " | ")), value);
    }
  }
  return unmet;
}

TEST(Expectations, ThatAreNotMetAreTold) {
  const std::string text = "#  SIGSEGV (0xb) at pc=0x0000000000001000, pid=1, tid=2\n";
  EXPECT_EQ(Unmet({"", {{"pc", "0x1000"}, {"signal", "SIGSEGV"}, {"frame", "none"}}, text}), "");
  EXPECT_EQ(Unmet({"", {{"pc", "0x100"}}, text}), "pc: 0x1000, and not 0x100\n");
  EXPECT_EQ(Unmet({"", {{"pc", "none"}}, text}), "pc: 0x1000, and not none\n");
  EXPECT_EQ(Unmet({"", {{"sp", "0x1000"}}, text}), "sp: none, and not 0x1000\n");
  EXPECT_EQ(Unmet({"", {{"pcs", "0x1000"}}, text}), "pcs is unknown\n");
  EXPECT_EQ(Unmet({"", {{"pcs", "none"}}, text}), "pcs is unknown\n");
  const std::string unread = Unmet({"", {}, text});
  EXPECT_EQ(unread.rfind("no line EXPECT at its head", 0), 0u) << unread;
  EXPECT_NE(unread.find("\nEXPECT signal: SIGSEGV\n"), std::string::npos) << unread;
}

// What an item is, in the words of a value: "3 vm module=.." is of the kind "vm".
std::string KindOf(const std::string& item, const std::string& value) {
  const std::vector<std::string> words = Split(value, ' ');
  if (item == "frame" || item == "java frame") return words.size() > 1 ? words[1] : value;
  if (item == "pointee" || item == "slot") return words[2];
  return "";
}

// So that each item of each kind is held to a log, whatever else is expected.
TEST(Expectations, EachItemIsExpectedOfALog) {
  std::set<std::string> expected, read;
  for (const CrashLog& log : CrashLogs(WALKHAMMER_CRASH_LOGS)) {
    for (const auto& [item, value] : log.expectations)
      if (value != kNone) expected.insert(item + "/" + KindOf(item, value));
    const CrashReport report = ParseCrashReport(log.text);
    for (const ReportItem& item : AllReportItems())
      for (const std::string& value : item.values(report))
        read.insert(item.name + ("/" + KindOf(item.name, value)));
  }
  for (const ReportItem& item : AllReportItems()) {
    const std::string start = item.name + std::string("/");
    EXPECT_TRUE(std::any_of(expected.begin(), expected.end(),
                            [&](const std::string& e) { return e.starts_with(start); }))
        << "no log expects this item: " << item.name;
  }
  std::vector<std::string> missing;
  std::set_difference(read.begin(), read.end(), expected.begin(), expected.end(),
                      std::back_inserter(missing));
  EXPECT_EQ(fmt::format("{}", fmt::join(missing, ", ")), "") << "read, and expected of no log";
}

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return text;
}

// What of the report does not stand on the line that it names.
std::string Misplaced(const CrashReport& report, const std::string& text) {
  const std::vector<std::string> lines = Split(text, '\n');
  std::string misplaced;
  const auto stands = [&](int line, const std::string& what) {
    const bool exists = line > 0 && static_cast<size_t>(line) <= lines.size();
    if (!exists || Lower(lines[line - 1]).find(Lower(what)) == std::string::npos)
      misplaced += fmt::format("{} on line {}\n", what, line);
  };
  const auto told = [&](const auto& item, const std::string& what) {
    if (item.known()) stands(item.line, what);
  };
  const auto hex = [](uint64_t value) { return fmt::format("{:x}", value); };
  // Others leave out "SIG"; javacores tell the number.
  const bool is_log = report.text_kind == CrashText::kHsErr;
  const std::string& signal = report.signal.name.value;
  if (report.text_kind != CrashText::kJavacore)
    told(report.signal.name, !is_log && signal.starts_with("SIG") ? signal.substr(3) : signal);
  told(report.signal.code, report.signal.code.value);
  if (!report.signal.address_computed)
    told(report.signal.address, hex(report.signal.address.value));
  told(report.internal.file, report.internal.file.value);
  told(report.internal.message, report.internal.message.value);
  told(report.pid, std::to_string(report.pid.value));
  told(report.tid, std::to_string(report.tid.value));
  told(report.pc, hex(report.pc.value));
  told(report.stack_pointer, hex(report.stack_pointer.value));
  told(report.version.vm, report.version.vm_version.value);
  told(report.command_line, report.command_line.value);
  told(report.time, report.time.value);
  told(report.vm_state, report.vm_state.value);
  told(report.vm_operation, report.vm_operation.value);
  for (const CrashStack* stack : {&report.native_stack, &report.java_stack})
    for (const CrashFrame& f : stack->frames) stands(f.line, f.text.substr(0, f.text.find(' ')));
  for (const CrashRegister& r : report.registers) stands(r.line, hex(r.value));
  for (const CrashPointee& p : report.register_pointees) stands(p.line, hex(p.value));
  for (const CrashPointee& p : report.stack_pointees) stands(p.line, hex(p.value));
  for (const CrashWord& w : report.stack_words) stands(w.line, hex(w.value));
  for (const CrashThread& t : report.threads) stands(t.line, hex(t.address));
  for (const CrashModule& m : report.modules) stands(m.line, hex(m.begin));
  for (const CrashCodeHeap& h : report.code_heaps) stands(h.line, h.name);
  for (const CrashFlag& f : report.flags) stands(f.line, f.name);
  for (const CrashEvent& e : report.events) stands(e.line, fmt::format("{:.3f}", e.seconds));
  for (const CrashReportingError& e : report.reporting_errors) stands(e.line, e.step);
  return misplaced;
}

// How much of each item the report has, for comparison with that of a text cut elsewhere.
std::vector<size_t> AmountsOf(const CrashReport& report) {
  size_t facts = 0;
  for (const bool known :
       {report.signal.name.known(), report.pid.known(), report.pc.known(),
        report.version.jre.known(), report.version.vm.known(), report.signal.code.known(),
        report.internal.file.known(), report.command_line.known(), report.vm_state.known()})
    facts += known ? 1 : 0;
  return {report.native_stack.frames.size(),
          report.registers.size(),
          report.stack_words.size(),
          report.register_pointees.size(),
          report.modules.size(),
          report.events.size(),
          report.flags.size(),
          facts};
}

class EachLog : public testing::TestWithParam<CrashLog> {};

TEST_P(EachLog, ReadsAsExpected) {
  const std::string unmet = Unmet(GetParam());
  EXPECT_TRUE(unmet.empty()) << GetParam().name << ":\n" << unmet;
}

TEST_P(EachLog, TellsTheLineOfEachItem) {
  const auto& [log, expectations, text] = GetParam();
  const CrashReport report = ParseCrashReport(text);
  const std::string misplaced = Misplaced(report, text);
  EXPECT_TRUE(misplaced.empty()) << log << ":\n" << misplaced;
  // Other lines have the pc, too; the head tells it first.
  if (GetParam().is_hs_err() && report.signal.name.known()) {
    EXPECT_EQ(report.pc.line, report.signal.name.line) << log;
  }
}

// A cut may spoil the line it goes through, and takes nothing from what is before it.
TEST_P(EachLog, CutAnywhereKeepsWhatWasRead) {
  constexpr size_t kCuts = kSanitized ? 20 : 1000;
  const auto& [log, expectations, text] = GetParam();
  std::vector<size_t> last = AmountsOf(ParseCrashReport(""));
  for (size_t cut = 1; cut <= kCuts; cut++) {
    const std::vector<size_t> now =
        AmountsOf(ParseCrashReport(std::string_view(text).substr(0, text.size() * cut / kCuts)));
    for (size_t i = 0; i < now.size(); i++)
      ASSERT_GE(now[i], last[i]) << log << " cut " << cut << ", amount " << i;
    last = now;
  }
}

// What whole lines before a cut say, they say after it, too.
TEST_P(EachLog, CutBetweenLinesReadsTheSame) {
  const auto& [log, expectations, text] = GetParam();
  const CrashReport whole = ParseCrashReport(text);
  for (size_t end = text.find('\n'); end != std::string::npos;
       end = text.find('\n', end + 1 + text.size() / (kSanitized ? 5 : 100))) {
    const CrashReport cut = ParseCrashReport(std::string_view(text).substr(0, end + 1));
    for (size_t i = 0; i < cut.registers.size(); i++) {
      ASSERT_LT(i, whole.registers.size());
      ASSERT_EQ(cut.registers[i].value, whole.registers[i].value) << log;
      ASSERT_EQ(cut.registers[i].line, whole.registers[i].line) << log;
    }
    if (cut.pc.known()) {
      ASSERT_EQ(cut.pc.value, whole.pc.value) << log;
    }
    if (cut.problematic_frame && GetParam().is_hs_err()) {
      ASSERT_EQ(cut.problematic_frame->text, whole.problematic_frame->text) << log;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EachLog, testing::ValuesIn(CrashLogs(WALKHAMMER_CRASH_LOGS)),
                         [](const auto& info) {
                           std::string name = info.param.name.substr(0, info.param.name.rfind('.'));
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace walkhammer
