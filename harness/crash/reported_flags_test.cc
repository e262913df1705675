// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/reported_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CrashReport ReportOf(const std::string& command_line, const std::string& vm = "mixed mode") {
  CrashReport report;
  report.command_line = {command_line, 1};
  report.version.vm = {vm, 1};
  return report;
}

TEST(ReportedFlags, AreThoseThatDecideWhatFramesLookLike) {
  EXPECT_THAT(
      ReportedFlags(ReportOf("-Xmx8g -XX:+UseZGC -Dkey=-Xint -XX:TieredStopAtLevel=1 "
                             "-XX:-UseCompressedOops -agentpath:/a/libasyncProfiler.so=start "
                             "-XX:MaxRAMPercentage=75 -XX:OnError=x a.Main -Xcompile")),
      ElementsAre("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseZGC", "-XX:TieredStopAtLevel=1",
                  "-XX:-UseCompressedOops"));
}

TEST(ReportedFlags, TheHeadNamesCollectorAndModeAsWell) {
  CrashReport report = ReportOf("", "OpenJDK 64-Bit Server VM (17.0.2+8, interpreted mode, z gc)");
  report.gc = {"z", 1};
  EXPECT_THAT(ReportedFlags(report),
              ElementsAre("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseZGC", "-Xint"));
  report = ReportOf("-XX:+UseZGC -XX:+UseZGC", "(compiled mode)");
  report.gc = {"g1", 1};  // two collectors start no JVM
  EXPECT_THAT(ReportedFlags(report),
              ElementsAre("-XX:+IgnoreUnrecognizedVMOptions", "-XX:+UseZGC", "-Xcomp"));
}

TEST(ReportedFlags, AReportWithoutFlagsHasNone) {
  EXPECT_THAT(ReportedFlags(CrashReport()), IsEmpty());
  EXPECT_THAT(ReportedFlags(ReportOf("-Xmx1g -jar a.jar")), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
