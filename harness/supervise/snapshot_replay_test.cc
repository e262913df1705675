// SPDX-License-Identifier: Apache-2.0
// From a sample to a small input: a sample of some JVM replays and shrinks in the JVM of this test.
#include <gtest/gtest.h>

#include "harness/base/files.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/findings/sample_request.h"
#include "harness/findings/sample_request_testing.h"
#include "harness/request/request_testing.h"
#include "harness/request/text_form.h"
#include "harness/supervise/command_testing.h"

namespace walkhammer {
namespace {

constexpr uint64_t kBase = 0x7f0000200000, kSp = kBase - 0x3000, kCode = 0x7f1000000000;
constexpr uint64_t kLib = 0x7f2000000000, kMeta = 0x7f3000000000;

// A sample at the last instruction of what the call stub called: [sp] is a return address in the
// call stub. Above it are frames of a program that the replaying JVM does not have.
std::string SampleText(SymbolTable& symbols) {
  SampledWorld world;
  world.state().job.depth = 128;
  world.AddCode(SymbolKind::kStub, "call_stub", kCode, kCode + 0x200);
  world.AddCode(SymbolKind::kCodelet, "ireturn", kCode + 0x1000, kCode + 0x1100);
  world.AddCode(SymbolKind::kStub, "I2C/C2I adapters", kCode + 0x2000, kCode + 0x2100);
  world.AddCode(SymbolKind::kNmethod, "com.example.App.work(I)I", kCode + 0x3000, kCode + 0x3400);
  world.AddMethod("com.example.App.main([Ljava/lang/String;)V", kMeta + 0x1000, kMeta + 0x2000, 50);
  world.AddMethod("java.util.zip.CRC32.update(I)V", kMeta + 0x3000, kMeta + 0x4000, 20);
  world.AddModule("/opt/app/libapp.so", kLib, kLib + 0x100000);
  Sample& sample = world.sample();
  sample.walker = static_cast<uint8_t>(*FindWalker("puzzle-sample-crash"));
  sample.state = kStateInJava;
  sample.stack_base = kBase;
  sample.stack_limit = kBase - (1 << 20);
  sample.registers = {kCode + 0x1010, kSp, kSp + 0x70, 0};
  const uint64_t repeated[] = {
      kCode + 0x50,   kMeta + 0x1000, kMeta + 0x2010, kSp + 0x100, kCode + 0x3123, kMeta + 0x3000,
      kMeta + 0x4005, kCode + 0x2040, kLib + 0x1234,  7,           kSp + 0x2000,   kMeta + 0x8000};
  for (sample.words = 0; sample.words < kSampleWords; sample.words++)
    sample.stack[sample.words] = repeated[sample.words % std::size(repeated)];
  return ToText({RequestOfSample(sample, world.state(), symbols), ""}, symbols);
}

class SnapshotReplayTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    const std::vector<Jdk> jdks = TestJdks();
    if (jdks.size() <= GetParam()) GTEST_SKIP() << "no such JDK on this machine";
    jdk_ = jdks[GetParam()].home;
  }
  nlohmann::json Replay(const std::string& file) const {
    return RunWalkhammer({"replay", file, "--jdk", jdk_, "--times", "3"}).json["replays"][0];
  }
  TemporaryFolder folder_;
  std::string jdk_;
};

TEST_P(SnapshotReplayTest, ShowsTheCrashAndShrinks) {
  auto symbols = NewSymbolTable();
  const std::string file = folder_.Write("sample.walk", SampleText(*symbols));
  const std::string small = folder_.Under("small.walk");
  nlohmann::json replay = Replay(file);
  EXPECT_EQ(replay["reproduced"], 3) << replay;
  EXPECT_EQ(replay["unable"], 0) << replay;
  EXPECT_GT(replay["stand_ins"], 0) << replay;

  const CommandResult run = RunWalkhammer({"minimize", file, "--jdk", jdk_, "--out", small});
  EXPECT_EQ(run.exit_code, 1) << run.line << run.json;
  const std::string text = ReadFile(small);
  WalkFile minimized;
  ASSERT_EQ(ParseText(text, small, *symbols, minimized), "") << text;
  EXPECT_LE(minimized.request.edit_count, 2) << text;
  EXPECT_EQ(minimized.request.origin, Origin::kMade);
  EXPECT_NE(RealismOf(minimized.request), Realism::kGenuine);
  replay = Replay(small);
  EXPECT_EQ(replay["reproduced"], 3) << replay << text;
}

INSTANTIATE_TEST_SUITE_P(NewestAndOldest, SnapshotReplayTest, testing::Values(0, 1));

}  // namespace
}  // namespace walkhammer
