// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <thread>

#include "harness/base/files.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"
#include "harness/process/interrupt.h"
#include "harness/process/program.h"
#include "workloads/catalogue.h"

namespace walkhammer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PrepareTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* made : {"/home/workloads", "/scratch", "/cache/d"}) {
      std::filesystem::create_directories(folder_ + made);
    }
    temporary_.Write("home/workloads/distributions", "id: d\nsha512: 77\njar: d.jar\n");
    temporary_.Write("home/workloads/input.sh", "mkdir \"$2\" && echo \"$1 $3 $4\" >\"$2/made\"\n");
    temporary_.Write("home/one.jar", "");
    temporary_.Write("home/two-2.jar", "");
    temporary_.Write("home/two-1.jar", "");
    context_ = {.home = folder_ + "/home",
                .scratch = folder_ + "/scratch",
                .seed = 7,
                .seconds = 30,
                .threads = 4,
                .scale = 2,
                .cache = folder_ + "/cache"};
    workload_.suite = "s";
    workload_.name = "w";
    workload_.main = "M";
    workload_.classpath = {"{home}/one.jar", "{home}/two-*.jar"};
  }

  WorkloadCommand Prepared(int feature) {
    return Must(PrepareWorkload(workload_, feature, context_));
  }

  // The message of kUnable, which CheckWorkload must give, too; empty if the workload can run.
  std::string Unfit(int feature) {
    Result<WorkloadCommand> command = PrepareWorkload(workload_, feature, context_);
    const Status checked = CheckWorkload(workload_, feature, context_);
    EXPECT_EQ(command.ok(), checked.ok());
    if (command.ok() || checked.ok()) return "";
    EXPECT_EQ(command.failure().code, ExitCode::kUnable);
    EXPECT_EQ(command.failure().message, checked.failure().message);
    return command.failure().message;
  }

  const TemporaryFolder temporary_;
  const std::string& folder_ = temporary_.path();
  WorkloadContext context_;
  Workload workload_;
};

TEST_F(PrepareTest, FillsTheCommandLine) {
  workload_.args = {"-i={input}/x", "{seed}", "{seconds}s", "{threads}", "{scale}", "{scratch}"};
  workload_.flags = {"-Dhome={home}"};
  workload_.flags_from = {{21, {"-D21"}}, {25, {"-D25"}}};
  workload_.input = "book";
  workload_.repeat = true;
  const WorkloadCommand command = Prepared(21);
  const std::string home = folder_ + "/home", scratch = folder_ + "/scratch";
  EXPECT_THAT(command.jvm_flags, ElementsAre("-Dhome=" + home, "-D21"));
  EXPECT_THAT(
      command.arguments,
      ElementsAre("-cp", home + "/one.jar:" + home + "/two-1.jar:" + home + "/two-2.jar", "M",
                  "-i=" + scratch + "/input/x", "7", "30s", "4", "2", scratch + "/work"));
  EXPECT_EQ(command.directory, scratch + "/work");
  EXPECT_TRUE(std::filesystem::is_empty(command.directory));
  EXPECT_TRUE(command.repeat);
  EXPECT_EQ(ReadFile(scratch + "/input/made"), "book 7 2\n");
}

TEST_F(PrepareTest, FlagsByJdk) {
  workload_.flags_from = {{21, {"-D21"}}, {25, {"-D25"}}};
  EXPECT_TRUE(Prepared(17).jvm_flags.empty());
  EXPECT_THAT(Prepared(25).jvm_flags, ElementsAre("-D21", "-D25"));
  EXPECT_TRUE(Prepared(0).jvm_flags.empty());
}

TEST_F(PrepareTest, ASizeIsThatOfTheScaleOrTheOneAskedFor) {
  workload_.args = {"-s", "{size}", "{name}{jdk}"};
  workload_.sizes = {"small", "default", "large"};
  EXPECT_THAT(Prepared(17).arguments, testing::Contains("large"));  // scale 2
  EXPECT_EQ(Prepared(17).arguments.back(), "w17");
  context_.scale = 1;
  EXPECT_THAT(Prepared(17).arguments, testing::Contains("default"));
  context_.size = "small";
  EXPECT_THAT(Prepared(17).arguments, testing::Contains("small"));
  context_.size = "huge";
  EXPECT_EQ(Unfit(17), "s:w has no input of size huge; its sizes are small, default, large");
  context_.size = "";
  context_.scale = 3;
  EXPECT_EQ(Unfit(17),
            "s:w has no input of scale 3 (1 is size default); its sizes are small, default, large");
  workload_.sizes.clear();
  EXPECT_EQ(Unfit(17), "");
  context_.size = "small";
  EXPECT_EQ(Unfit(17), "s:w has no sizes, such as small; give --scale a number");
}

TEST_F(PrepareTest, LargeSeedsStayNumbersForJava) {
  workload_.args = {"{seed}"};
  context_.seed = ~uint64_t{0} - 5;
  EXPECT_EQ(Prepared(17).arguments.back(), "5");
  context_.seed = uint64_t{1} << 33;
  EXPECT_EQ(Prepared(17).arguments.back(), "2");
}

TEST_F(PrepareTest, SaysHowToInstall) {
  workload_.classpath.push_back("/nowhere/*.jar");
  EXPECT_EQ(Unfit(17), "s:w is not installed: there is no /nowhere/*.jar");
  workload_.packages = {"fop", "libfop"};
  EXPECT_EQ(Unfit(17),
            "s:w is not installed: there is no /nowhere/*.jar; run: apt-get install "
            "--no-install-recommends fop libfop");
}

TEST_F(PrepareTest, SaysWhyNotOnThisJdk) {
  workload_.oldest_jdk = 18;
  workload_.newest_jdk = 21;
  workload_.why = "it is so";
  EXPECT_EQ(Unfit(17), "s:w does not run on JDK 17: it is so");
  EXPECT_EQ(Unfit(22), "s:w does not run on JDK 22: it is so");
  EXPECT_EQ(Unfit(18), "");
  EXPECT_EQ(Unfit(21), "");
  EXPECT_EQ(Unfit(0), "");
}

TEST_F(PrepareTest, TakesVerifiedDistributionsOnly) {
  workload_.classpath.clear();
  workload_.main.clear();
  workload_.jar = "{file}";
  workload_.file = "d";
  const std::string lacks = "s:w is not installed: " + folder_ +
                            "/cache/d holds no verified copy; " + "run: " + folder_ +
                            "/home/workloads/fetch.sh d --cache " + folder_ + "/cache";
  EXPECT_EQ(Unfit(17), lacks);
  temporary_.Write("cache/d/d.jar", "");
  EXPECT_EQ(Unfit(17), lacks);
  temporary_.Write("cache/d/verified", "78\nd.jar\n");
  EXPECT_EQ(Unfit(17), lacks);
  temporary_.Write("cache/d/verified", "77\nother.jar\n");
  EXPECT_EQ(Unfit(17), lacks);
  temporary_.Write("cache/d/verified", "77\nd.jar\n");
  EXPECT_THAT(Prepared(17).arguments, ElementsAre("-jar", folder_ + "/cache/d/d.jar"));
}

TEST_F(PrepareTest, AGeneratorThatFails) {
  temporary_.Write("home/workloads/input.sh", "exit 1\n");
  workload_.input = "book";
  EXPECT_THAT(PrepareWorkload(workload_, 17, context_),
              FailsWith(ExitCode::kToolFailed, HasSubstr("input.sh book")));
}

TEST_F(PrepareTest, AnInterruptEndsAGeneratorWithAllThatItStarted) {
  temporary_.Write("home/workloads/input.sh", "sleep 50 & echo $! >\"$2.pid\"; wait\n");
  workload_.input = "book";
  const pid_t child = fork();
  if (child == 0) {
    CatchInterrupts();
    alarm(20);  // the end of a test that fails
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
      kill(getpid(), SIGTERM);
    }).detach();
    const Result<WorkloadCommand> command = PrepareWorkload(workload_, 17, context_);
    const bool told = !command.ok() && command.failure().message.starts_with("interrupted in: sh ");
    _exit(told ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  const pid_t sleeper = std::atoi(ReadFile(folder_ + "/scratch/input.pid").c_str());
  ASSERT_GT(sleeper, 0);
  for (int i = 0; i < 200 && IsAlive(sleeper); i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(IsAlive(sleeper));
}

TEST(InputScript, SameWordsSameBytes) {
  const TemporaryFolder folder;
  const std::string script = std::string("sh '") + WALKHAMMER_WORKLOADS + "/input.sh' ";
  const auto make = [&](const char* to, const char* rest) {
    return std::system((script + "batik '" + folder.Under(to) + "' " + rest).c_str());
  };
  ASSERT_EQ(make("a", "7 1"), 0);
  ASSERT_EQ(make("b", "7 1"), 0);
  ASSERT_EQ(make("c", "8 1"), 0);
  ASSERT_EQ(make("d", "7 2"), 0);
  const std::string a = ReadFile(folder.Under("a/drawing1.svg"));
  EXPECT_GT(a.size(), 10000u);
  EXPECT_EQ(a, ReadFile(folder.Under("b/drawing1.svg")));
  EXPECT_NE(a, ReadFile(folder.Under("c/drawing1.svg")));
  EXPECT_GT(ReadFile(folder.Under("d/drawing1.svg")).size(), a.size() * 3 / 2);
  const std::string nonsense = script + "nonsense '" + folder.Under("e") + "' 1 1 2>/dev/null";
  EXPECT_NE(std::system(nonsense.c_str()), 0);
  EXPECT_NE(make("e", "1 x 2>/dev/null"), 0);
}

TEST(DefaultCacheTest, FollowsTheEnvironment) {
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(DefaultCache(), "/x/walkhammer");
  setenv("XDG_CACHE_HOME", "", 1);
  setenv("HOME", "/h", 1);
  EXPECT_EQ(DefaultCache(), "/h/.cache/walkhammer");
  unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(DefaultCache(), "/h/.cache/walkhammer");
}

}  // namespace
}  // namespace walkhammer
