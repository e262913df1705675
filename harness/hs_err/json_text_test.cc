// SPDX-License-Identifier: Apache-2.0
// Texts of crashes in JSON: strings, also of a cut document, and stacks as objects.
#include "harness/hs_err/json_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/hs_err/crash_report.h"
#include "harness/hs_err/testing/report_items.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;

std::string Text(std::string_view json) { return TextInJson(json).value_or("none"); }

TEST(TextInJson, IsThatOfTheKeyWithTheCrash) {
  EXPECT_EQ(Text(R"({"log": "a \"quoted\" word\n", "stream": "stdout"}
{"log": "siginfo: \u0041\/\ttab", "time": "12"}
no JSON
{"other": "siginfo: b"}
)"),
            "a \"quoted\" word\nsiginfo: A/\ttab\nno JSON\n{\"other\": \"siginfo: b\"}\n");
  EXPECT_EQ(Text(R"({"a": 1, "message": "#\n# Problematic frame:\n# C  [a.so+0x1]\n", "b": "c"})"),
            "#\n# Problematic frame:\n# C  [a.so+0x1]\n");
  EXPECT_EQ(Text("{\"m\": \"siginfo:\"}\n{\"m\": \"\"}\n{\"m\": \"\\n\"}\n"), "siginfo:\n\n\n");
  // Lists, in a line and in several.
  EXPECT_EQ(Text(R"({"lines": ["Problematic frame:", "C  [a.so+0x1]"], "x": "y"})"),
            "Problematic frame:\nC  [a.so+0x1]\n");
  EXPECT_EQ(Text("[\n  \"Problematic frame:\",\n  \"C  [a.so+0x1]\"\n]\n"),
            "[\nProblematic frame:\nC  [a.so+0x1]\n]\n");
}

TEST(TextInJson, MayBeCutAnywhere) {
  EXPECT_EQ(Text(R"({"log": "Problematic frame:\nC  [a.so+0x1]  f)"),
            "Problematic frame:\nC  [a.so+0x1]  f");
  EXPECT_EQ(Text(R"({"log": "Problematic frame:\)"), "Problematic frame:");
  EXPECT_EQ(Text(R"({"log": "Problematic frame:\u00)"), "Problematic frame:u00");
}

TEST(TextInJson, IsNoOtherText) {
  for (const char* text :
       {"", "{}", "{\"log\": \"a\"}", "Problematic frame:\nC  [a.so+0x1] \"f\"\n",
        "He said \"no\": Problematic frame:\n", "{\"frames\": []}"})
    EXPECT_EQ(Text(text), "none") << text;
}

TEST(TextInJson, MayBeJsonItself) {
  const CrashReport report = ParseCrashReport(
      R"({"log": "{\"message\": \"siginfo: si_signo: 11 (SIGSEGV), si_addr: 0x10\"}\n"})");
  EXPECT_EQ(report.signal.address.value, 0x10U);
}

TEST(StackOfObjects, OfDatadogsCrashTracking) {
  const CrashReport report = ParseCrashReport(R"({
  "error": {"is_crash": true, "kind": "UnixSignal", "stack": {"format": "CrashTrackerV1",
    "frames": [
      {"ip": "0x7f01", "path": "/jdk/lib/libjvm.so", "relative_address": "0x1f",
       "function": "vframe::java_sender() const"},
      {"ip": "0x7f02", "relative_address": null},
      {"function": "com.example.Work.run()V", "file": "Work.java", "line": 12}]},
    "threads": [{"frames": [{"ip": "0x7f09", "function": "poll"}]}]},
  "sig_info": {"si_addr": "0x0000000000000028", "si_code": 1,
    "si_code_human_readable": "SEGV_MAPERR", "si_signo": 11, "si_signo_human_readable": "SIGSEGV"}
})");
  EXPECT_THAT(
      ValuesOf(report, "frame"),
      ElementsAre("0 vm module=libjvm.so at=0x1f symbol=vframe::java_sender() const",
                  "1 native pc=0x7f02", "2 interpreted symbol=com.example.Work.run()V bci=0"));
  EXPECT_EQ(report.signal.name.value, "SIGSEGV");
  EXPECT_EQ(report.signal.code.value, "SEGV_MAPERR");
  EXPECT_EQ(report.signal.address.value, 0x28U);
}

TEST(StackOfObjects, OfSentryIsInnermostLast) {
  const CrashReport report = ParseCrashReport(
      R"j({"exception": {"values": [{"type": "SIGBUS", "stacktrace": {"frames": [
        {"function": "main", "package": "/bin/java", "instruction_addr": "0x20"},
        {"function": "f(int)", "package": "/jdk/libjvm.so", "instruction_addr": "0x10"}]}}]}})j");
  EXPECT_THAT(ValuesOf(report, "frame"), ElementsAre("0 vm module=libjvm.so at=0x0 symbol=f(int)",
                                                     "1 native module=java at=0x0 symbol=main"));
  EXPECT_EQ(report.signal.name.value, "SIGBUS");
}

// The newer form of Apple's crash reports, an .ips file: a line for the head, then the report.
TEST(StackOfObjects, OfAppleIsThatOfTheThreadThatCrashed) {
  const CrashReport report = ParseCrashReport(R"j({"app_name":"java","os_version":"macOS 14.5"}
{"exception" : {"codes":"0x1, 0x70","type":"EXC_BAD_ACCESS","signal":"SIGSEGV",
   "subtype":"KERN_INVALID_ADDRESS at 0x0000000000000070"},
 "threads" : [
  {"id":1,"frames":[{"imageOffset":20,"symbol":"mach_msg","symbolLocation":8,"imageIndex":1}]},
  {"triggered":true,"id":2,"threadState":{"pc":{"value":4096}},"frames":[
   {"imageOffset":776,"symbol":"vframeStreamForte::forte_next()","symbolLocation":12,"imageIndex":0},
   {"imageOffset":900,"imageIndex":0},
   {"imageOffset":48,"symbol":"_sigtramp","symbolLocation":56,"imageIndex":1}]},
  {"id":3,"frames":[{"imageOffset":20,"symbol":"poll","symbolLocation":8,"imageIndex":1}]}],
 "usedImages" : [{"base":4294967296,"size":8192,"name":"libjvm.dylib"},
  {"base":8589934592,"name":"libsystem_platform.dylib"}]})j");
  EXPECT_THAT(
      ValuesOf(report, "frame"),
      ElementsAre(
          "0 vm module=libjvm.dylib at=0x308 symbol=vframeStreamForte::forte_next() offset=0xc",
          "1 vm module=libjvm.dylib at=0x384",
          "2 signal module=libsystem_platform.dylib at=0x30 symbol=_sigtramp offset=0x38"));
  EXPECT_EQ(report.signal.name.value, "SIGSEGV");
  EXPECT_EQ(report.signal.address.value, 0x70U);
}

}  // namespace
}  // namespace walkhammer
