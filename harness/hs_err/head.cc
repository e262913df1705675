// SPDX-License-Identifier: Apache-2.0
// The head of a log: the error, the versions, siginfo.

#include "harness/base/text.h"
#include "harness/hs_err/characters.h"
#include "harness/hs_err/cursor.h"
#include "harness/hs_err/sections.h"

namespace walkhammer {
namespace {

// "pid=4891, tid=4892"; JDK 8 and before write a pthread's address for tid, which is not an id.
void ReadIds(std::string_view text, int line, CrashReport& report) {
  Cursor pid(text), tid(text);
  if (pid.SkipPast("pid="))
    if (const auto value = pid.Decimal(); value && *value > 0)
      SetIfUnknown(report.pid, *value, line);
  if (!tid.SkipPast("tid=") || tid.rest().starts_with("0x")) return;
  if (const auto value = tid.Decimal(); value && *value > 0 && *value <= INT32_MAX && tid.AtEnd())
    SetIfUnknown(report.tid, *value, line);
}

// "SIGSEGV (0xb) at pc=0x.., pid=1, tid=2", "EXCEPTION_ACCESS_VIOLATION (0xc0000005) at pc=.."
bool ReadSignal(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  const std::string_view name = cursor.Until(" (:,");
  if (!name.starts_with("SIG") && !name.starts_with("EXCEPTION_")) return false;
  for (const char c : name)
    if (!IsWordChar(c)) return false;
  std::optional<uint64_t> number;
  if (cursor.Skip("(")) number = cursor.Hex();
  Cursor pc(line.text);
  const bool has_pc = pc.SkipPast(" at pc=");
  if (!number && !has_pc) return false;
  SetIfUnknown(report.signal.name, name, line.number);
  if (number) SetIfUnknown(report.signal.number, static_cast<int>(*number), line.number);
  if (report.error == CrashError::kUnknown) report.error = CrashError::kSignal;
  if (has_pc)
    if (const auto value = pc.Hex()) SetIfUnknown(report.pc, *value, line.number);
  ReadIds(line.text, line.number, report);
  return true;
}

// "Internal Error (/build/src/frame.cpp:123), pid=1, tid=2", "Out of Memory Error (..)"
bool ReadInternal(const Line& line, CrashReport& report) {
  const bool memory = line.text.starts_with("Out of Memory Error (");
  if (!memory && !line.text.starts_with("Internal Error (")) return false;
  Cursor cursor(line.text);
  (void)cursor.SkipPast("(");
  std::string_view file = cursor.Until(")");
  const size_t slash = file.find_last_of("/\\");
  if (slash != std::string_view::npos) file = file.substr(slash + 1);
  const size_t colon = file.rfind(':');
  if (colon != std::string_view::npos) {
    Cursor number(file.substr(colon + 1));
    if (const auto value = number.Decimal())
      SetIfUnknown(report.internal.file_line, static_cast<int>(*value), line.number);
    file = file.substr(0, colon);
  }
  SetIfUnknown(report.internal.file, file, line.number);
  if (report.error == CrashError::kUnknown)
    report.error = memory ? CrashError::kOutOfMemory : CrashError::kInternal;
  ReadIds(line.text, line.number, report);
  return true;
}

// "guarantee(is_ok(p)) failed: bad", "fatal error: OutOfMemory encountered: Java heap space"
void ReadMessage(const Line& line, CrashReport& report) {
  CrashInternalError& error = report.internal;
  if (error.kind.known()) return;
  error.text = line.text;
  const std::string_view text = line.text;
  const size_t failed = text.rfind(") failed");
  const size_t open = text.find('(');
  const size_t colon = text.find(": ");
  if (failed != std::string_view::npos && open < failed) {
    SetIfUnknown(error.kind, text.substr(0, open), line.number);
    SetIfUnknown(error.condition, text.substr(open + 1, failed - open - 1), line.number);
    Cursor rest(text.substr(failed + 8));
    (void)rest.Skip(":");
    SetIfUnknown(error.message, Trim(rest.rest()), line.number);
  } else if (colon != std::string_view::npos) {
    SetIfUnknown(error.kind, text.substr(0, colon), line.number);
    SetIfUnknown(error.message, Trim(text.substr(colon + 1)), line.number);
  } else {
    SetIfUnknown(error.kind, text, line.number);
  }
  if (text.find("OutOfMemory encountered: Java heap space") != std::string_view::npos)
    report.error = CrashError::kJavaHeapFull;
}

bool IsMessage(std::string_view text) {
  return text.find(") failed") != std::string_view::npos || text.starts_with("fatal error") ||
         text.starts_with("Error") || text.starts_with("Should") ||
         text.starts_with("Unimplemented");
}

int FeatureOf(std::string_view version, bool of_vm) {
  Cursor cursor(version);
  const auto first = cursor.Decimal();
  if (!first || *first > 200) return 0;
  const bool old_vm = of_vm && *first != 1 && version.find("-b") != std::string_view::npos &&
                      version.find('+') == std::string_view::npos;
  if (old_vm) return *first == 25 ? 8 : *first >= 21 && *first <= 24 ? 7 : *first <= 20 ? 6 : 0;
  if (*first != 1) return static_cast<int>(*first);
  if (!cursor.Skip(".")) return 0;
  return static_cast<int>(cursor.Decimal().value_or(0));
}

void ReadDebugLevel(std::string_view text, int line, CrashReport& report) {
  for (const char* level : {"fastdebug", "slowdebug"})
    if (text.find(level) != std::string_view::npos)
      SetIfUnknown(report.version.debug_level, level, line);
}

// "OpenJDK Runtime Environment (17.0.15+6) (build 17.0.15+6-Debian-1deb12u1)", "7.0_45-b18"
void ReadJre(std::string_view text, int line, CrashReport& report) {
  SetIfUnknown(report.version.jre, text, line);
  ReadDebugLevel(text, line, report);
  std::string_view jdk = text;
  Cursor build(text);
  if (build.SkipPast("build ")) {
    jdk = build.Until(")");
  } else if (const size_t open = text.rfind('('); open != std::string_view::npos) {
    Cursor last(text.substr(open + 1));
    jdk = last.Until(")");
  }
  jdk = Trim(jdk);
  if (jdk.empty() || !IsDigit(jdk[0])) return;
  SetIfUnknown(report.version.jdk, jdk, line);
  if (const int feature = FeatureOf(jdk, false))
    SetIfUnknown(report.version.feature, feature, line);
}

struct Word {
  std::string_view text, meaning;
};
constexpr Word kGcs[] = {{"g1 gc", "g1"},
                         {"serial gc", "serial"},
                         {"parallel gc", "parallel"},
                         {"concurrent mark sweep gc", "cms"},
                         {"z gc", "z"},
                         {"shenandoah gc", "shenandoah"},
                         {"epsilon gc", "epsilon"}};

struct ArchName {
  std::string_view word;
  CrashArch arch;
};
constexpr ArchName kArchs[] = {
    {"amd64", CrashArch::kX86_64}, {"x86_64", CrashArch::kX86_64}, {"aarch64", CrashArch::kAarch64},
    {"ppc64", CrashArch::kPpc64},  {"s390x", CrashArch::kS390x},   {"riscv64", CrashArch::kRiscv64},
    {"x86", CrashArch::kX86},      {"arm", CrashArch::kArm},
};

struct System {
  std::string_view word;
  CrashOs os;
};
constexpr System kSystems[] = {{"linux-", CrashOs::kLinux},     {"bsd-", CrashOs::kMacos},
                               {"windows-", CrashOs::kWindows}, {"solaris-", CrashOs::kOther},
                               {"aix-", CrashOs::kOther},       {"macosx-", CrashOs::kMacos}};

// "linux-amd64" in a list or a sentence
void ReadPlatform(std::string_view text, int line, CrashReport& report) {
  for (const System& system : kSystems) {
    const size_t at = text.find(system.word);
    if (at == std::string_view::npos || (at > 0 && IsWordChar(text[at - 1]))) continue;
    Cursor cursor(text.substr(at));
    const std::string_view platform = cursor.Until(" ,)");
    SetIfUnknown(report.platform, platform, line);
    if (report.os == CrashOs::kUnknown) report.os = system.os;
    for (const ArchName& row : kArchs)
      if (report.arch == CrashArch::kUnknown &&
          platform.substr(system.word.size()).starts_with(row.word))
        report.arch = row.arch;
  }
}

// "OpenJDK 64-Bit Server VM (25.504-b01 mixed mode linux-amd64 compressed oops)"
void ReadVm(std::string_view text, int line, CrashReport& report) {
  SetIfUnknown(report.version.vm, text, line);
  ReadDebugLevel(text, line, report);
  ReadPlatform(text, line, report);
  for (const Word& gc : kGcs)
    if (text.find(gc.text) != std::string_view::npos) SetIfUnknown(report.gc, gc.meaning, line);
  Cursor cursor(text);
  if (!cursor.SkipPast("(")) return;
  (void)(cursor.Skip("fastdebug ") || cursor.Skip("slowdebug "));
  const std::string_view version = Trim(cursor.Until(", )"));
  if (version.empty() || !IsDigit(version[0])) return;
  SetIfUnknown(report.version.vm_version, version, line);
  if (const int feature = FeatureOf(version, true))
    SetIfUnknown(report.version.feature, feature, line);
  if (cursor.rest().find(')') != std::string_view::npos)
    SetIfUnknown(report.version.debug_level, "release", line);
}

// The value that follows `key`, ':' or '=': "11 (SIGSEGV)", "SIGSEGV", "1 (SEGV_MAPERR)".
struct NumberAndName {
  std::optional<int64_t> number;
  std::string_view name;
};
NumberAndName ValueOf(std::string_view text, std::string_view key) {
  NumberAndName value;
  Cursor cursor(text);
  if (!cursor.SkipPast(key)) return value;
  (void)(cursor.Skip(":") || cursor.Skip("="));
  value.number = cursor.Decimal(true);
  (void)cursor.Skip("(");
  cursor.SkipBlanks();
  value.name = cursor.Until("),: ");
  if (value.name.empty() || !IsLetter(value.name[0])) value.name = {};
  return value;
}

}  // namespace

bool ReadHead(const Line& line, CrashReport& report, bool& expects_message) {
  if (line.text.starts_with("JRE version")) expects_message = false;
  if (line.text.starts_with("There is insufficient memory for the Java Runtime")) {
    report.error = CrashError::kOutOfMemory;
    return true;
  }
  if (ReadSignal(line, report)) return true;
  if (ReadInternal(line, report)) {
    expects_message = report.error != CrashError::kOutOfMemory;
    return true;
  }
  // The application may print there, too.
  if (!expects_message || (!line.has_hash && !IsMessage(line.text))) return false;
  expects_message = false;
  ReadMessage(line, report);
  return true;
}

bool ReadVersion(const Line& line, CrashReport& report) {
  Cursor cursor(line.text);
  if (cursor.Skip("JRE version:")) {
    ReadJre(Trim(cursor.rest()), line.number, report);
  } else if (cursor.Skip("Java VM:")) {
    ReadVm(Trim(cursor.rest()), line.number, report);
  } else if (cursor.Skip("vm_info:")) {
    const std::string_view text = Trim(cursor.rest());
    SetIfUnknown(report.version.build, text, line.number);
    ReadDebugLevel(text, line.number, report);
    ReadPlatform(text, line.number, report);
    Cursor jre(text);
    if (!report.version.jdk.known() && jre.SkipPast("JRE (")) {
      const std::string_view jdk = jre.Until(")");
      SetIfUnknown(report.version.jdk, jdk, line.number);
      if (const int feature = FeatureOf(jdk, false))
        SetIfUnknown(report.version.feature, feature, line.number);
    }
  } else {
    return false;
  }
  return true;
}

bool ReadSiginfo(const Line& line, CrashReport& report) {
  if (!line.text.starts_with("siginfo:") && !line.text.starts_with("si_")) return false;
  CrashSignal& signal = report.signal;
  const NumberAndName signo = ValueOf(line.text, "si_signo");
  if (signo.number) SetIfUnknown(signal.number, static_cast<int>(*signo.number), line.number);
  if (!signo.name.empty()) SetIfUnknown(signal.name, signo.name, line.number);
  const NumberAndName code = ValueOf(line.text, "si_code");
  if (code.number) SetIfUnknown(signal.code_number, static_cast<int>(*code.number), line.number);
  if (!code.name.empty()) SetIfUnknown(signal.code, code.name, line.number);
  for (const std::string_view key : {"si_pid", "sent from pid"})
    if (const NumberAndName pid = ValueOf(line.text, key); pid.number)
      SetIfUnknown(signal.sender_pid, *pid.number, line.number);
  for (const std::string_view key : {"si_addr", "reading address", "writing address"}) {
    Cursor address(line.text);
    if (!address.SkipPast(key)) continue;
    (void)(address.Skip(":") || address.Skip("="));
    if (const auto value = address.Hex()) SetIfUnknown(signal.address, *value, line.number);
  }
  return true;
}

}  // namespace walkhammer
