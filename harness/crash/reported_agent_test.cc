// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/reported_agent.h"

#include <gtest/gtest.h>

namespace walkhammer {
namespace {

std::string OptionsOf(const std::string& command_line) {
  CrashReport report;
  report.command_line.value = command_line;
  return ReportedAgentOptions(report);
}

TEST(ReportedAgent, KeepsWhatDecidesHowStacksAreWalked) {
  EXPECT_EQ(OptionsOf("-Xmx1g -agentpath:/opt/ap/libasyncProfiler.so=start,event=wall,interval=1ms,"
                      "cstack=vmx,file=/tmp/secret.jfr,jfr,include=com/acme/*,log=/x -jar app.jar"),
            "start,event=wall,interval=1ms,cstack=vmx");
  EXPECT_EQ(OptionsOf("-agentlib:asyncProfiler=start,alloc=512k,threads"),
            "start,alloc=512k,threads");
  EXPECT_EQ(OptionsOf("-agentpath:/tmp/spark-1f-libasyncProfiler.so.tmp=cpu,wall=20ms"),
            "start,cpu,wall=20ms");
}

TEST(ReportedAgent, StartsOnlyWhereTheReportTellsNoOptions) {
  for (const char* line : {"", "-Xmx1g app.jar", "-agentpath:/opt/ap/libasyncProfiler.so",
                           "-agentpath:/opt/ap/libasyncProfiler.so=",
                           "-agentpath:/opt/libjavaProfiler.so=start,event=cpu",
                           "-agentpath:/opt/other.so=event=cpu,/libasyncProfiler.so",
                           "-Dx=-agentpath:/opt/libasyncProfiler.so=event=cpu"})
    EXPECT_EQ(OptionsOf(line), "start") << line;
}

}  // namespace
}  // namespace walkhammer
