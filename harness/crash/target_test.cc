// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/target.h"

#include <gtest/gtest.h>

#include "harness/crash/crash_testing.h"

namespace walkhammer {
namespace {

CrashTarget TargetOfText(const std::string& text) {
  const CrashReport report = ParseCrashReport(text);
  return TargetOf(report, ChainOf(report));
}

TEST(CrashTarget, ComparesByFunctionAndOffset) {
  const CrashTarget target = TargetOfText(LogWith({kSender, kAgct, kHandler, kJava}));
  EXPECT_EQ(target.function, "frame::sender");
  EXPECT_EQ(target.expect, "crash frame::sender(RegisterMap*) const+0x325");
  EXPECT_EQ(Compare(target, "crash frame::sender(RegisterMap*) const+0x325", ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(target, "crash frame::sender(RegisterMap*) const+0x10", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash frame::sender(bool)+0x325", ""), Closeness::kExact);
  EXPECT_EQ(Compare(target, "death SIGSEGV frame::sender(RegisterMap*) const+0x10", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash memcpy+0x10 from frame::sender(RegisterMap*) const+0x8", ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash frame::sender_for_entry_frame(RegisterMap*) const+0x325", ""),
            Closeness::kNone);
  EXPECT_EQ(Compare(target, "truth/frames", ""), Closeness::kNone);
  EXPECT_EQ(Compare(target, "", ""), Closeness::kNone);
}

TEST(CrashTarget, OfAnExpectLineIsMetByADeath) {
  const CrashTarget crash = TargetOfExpect("crash frame::sender(RegisterMap*) const+0x325");
  EXPECT_EQ(Compare(crash, "death SIGSEGV frame::sender(RegisterMap*) const+0x325", ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(crash, "death SIGSEGV frame::sender_blob()+0x325", ""), Closeness::kNone);
  EXPECT_FALSE(TargetOfExpect("truth/frames").known());
}

TEST(CrashTarget, KnowsCallersAndCalleesAsTheSameClass) {
  const CrashTarget target = TargetOfText(
      LogWith({"V  [libjvm.so+0x1]  Method::bcp_from(unsigned char*) const+0x3",
               "V  [libjvm.so+0x2]  frame::is_interpreted_frame_valid(JavaThread*) const+0x5f",
               kAgct, kHandler, kJava}));
  EXPECT_EQ(Compare(target, "crash frame::is_interpreted_frame_valid(JavaThread*) const+0x9", ""),
            Closeness::kClass);
  EXPECT_EQ(Compare(target, "crash Symbol::as_C_string() const+0x9",
                    "libjvm.so Symbol::as_C_string() const+0x9\n"
                    "libjvm.so Method::bcp_from(unsigned char*) const+0x8\n"),
            Closeness::kClass);
  // Every crash has the entry: it says nothing.
  EXPECT_EQ(Compare(target, "crash AsyncGetCallTrace+0x9", "libjvm.so AsyncGetCallTrace+0x9\n"),
            Closeness::kNone);
}

TEST(CrashTarget, ComparesChecksWithoutTheirLines) {
  const CrashTarget target = TargetOfText(LogOfFailedCheck());
  EXPECT_EQ(target.check, "(codeCache.cpp) guarantee(is_result_safe || is_in_asgct()) failed");
  EXPECT_EQ(Compare(target,
                    "failed-check (codeCache.cpp:645) guarantee(is_result_safe || is_in_asgct()) "
                    "failed",
                    ""),
            Closeness::kExact);
  EXPECT_EQ(Compare(target,
                    "death Internal Error (codeCache.cpp:9) guarantee(is_result_safe || "
                    "is_in_asgct()) failed: unsafe access to zombie method",
                    ""),
            Closeness::kFunction);
  EXPECT_EQ(Compare(target, "failed-check (codeCache.cpp:645) guarantee(x) failed", ""),
            Closeness::kClass);
  EXPECT_EQ(Compare(target, "crash CodeCache::find_blob(void*)+0x1", ""), Closeness::kNone);
}

TEST(CrashTarget, TakesACrashInTheFunctionThatChecked) {
  CrashTarget target = TargetOfExpect("failed-check (codeCache.cpp:645) guarantee(x) failed");
  target.function = "CodeCache::find_blob";
  EXPECT_EQ(Compare(target, "crash CodeCache::find_blob(void*)+0x1", ""), Closeness::kFunction);
  EXPECT_EQ(Compare(target, "crash CodeCache::find_nmethod(void*)+0x1", ""), Closeness::kNone);
}

}  // namespace
}  // namespace walkhammer
