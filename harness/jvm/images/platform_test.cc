// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/images/platform.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/utsname.h>

#include <filesystem>
#include <fstream>

#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr GlibcVersion kFuture{9, 9};

std::string OwnArch() {
  utsname names;
  uname(&names);
  return names.machine;
}

// A root folder with a JDK home; tests add a program loader.
class PlatformTest : public ::testing::Test {
 protected:
  PlatformTest() {
    fs::create_directories(home_ / "bin");
    loader_ = OwnArch() == "x86_64" ? "lib64/ld-linux-x86-64.so.2" : "lib/ld-linux-aarch64.so.1";
  }

  static void MakeProgram(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    fs::permissions(path, fs::perms::owner_all);
  }

  TemporaryFolder folder_;
  const fs::path root_ = folder_.path(), home_ = root_ / "usr/lib/jvm/jdk";
  std::string loader_;
};

TEST_F(PlatformTest, WhatNeedsNoNewerLibraryRunsByItself) {
  MakeProgram(root_ / loader_);
  for (const GlibcVersion& need : {GlibcVersion{}, GlibcVersion{2, 2}, OwnGlibc()}) {
    auto platform = Must(PlatformOf(OwnArch(), home_, {false, need}));
    EXPECT_TRUE(platform.is_own());
    EXPECT_THAT(platform.Command({"java", "-version"}), ElementsAre("java", "-version"));
  }
}

TEST_F(PlatformTest, ANewerLibraryIsThatOfTheRootAboveHome) {
  MakeProgram(root_ / loader_);
  fs::create_directories(root_ / "usr/lib" / (OwnArch() + "-linux-gnu"));
  auto platform = Must(PlatformOf(OwnArch(), home_, {false, kFuture}));
  EXPECT_FALSE(platform.is_own());
  EXPECT_FALSE(platform.is_emulated);
  std::vector<std::string> environment = {"A=b"};
  const std::vector<std::string> words = platform.Command({"java", "-version"}, environment);
  ASSERT_EQ(words.size(), 5U);
  EXPECT_EQ(words[0], root_ / loader_);
  EXPECT_EQ(words[1], "--library-path");
  EXPECT_THAT(words[2], HasSubstr(root_ / "usr/lib" / (OwnArch() + "-linux-gnu")));
  EXPECT_EQ(words[3], "java");
  EXPECT_THAT(environment, ElementsAre("A=b"));  // a loader passes its environment on
}

TEST_F(PlatformTest, ALoaderInTheJdksBinComesFirst) {
  MakeProgram(root_ / loader_);
  const fs::path link = home_ / "bin" / fs::path(loader_).filename();
  MakeProgram(link);
  auto platform = Must(PlatformOf(OwnArch(), home_, {false, kFuture}));
  EXPECT_EQ(platform.launcher[0], link);
}

TEST_F(PlatformTest, WithoutANewerLibraryItSaysWhatIsMissing) {
  EXPECT_THAT(PlatformOf(OwnArch(), home_, {false, kFuture}),
              FailsWith(ExitCode::kUnable,
                        testing::AllOf(HasSubstr("needs glibc 9.9"), HasSubstr(loader_))));
}

// Like /usr/lib64 where /lib64 is a link into /usr: a JDK in /usr/lib/jvm finds no newer library
// there.
TEST_F(PlatformTest, TheMachinesOwnLoaderIsNoneOfANewerLibrary) {
  fs::create_directories((root_ / loader_).parent_path());
  fs::create_symlink(fs::path("/") / loader_, root_ / loader_);
  EXPECT_THAT(PlatformOf(OwnArch(), home_, {false, kFuture}),
              FailsWith(testing::_, HasSubstr("no folder above it")));
}

TEST_F(PlatformTest, ABuildForMuslIsRefused) {
  EXPECT_THAT(PlatformOf(OwnArch(), home_, {true, {}}),
              FailsWith(ExitCode::kUnable, HasSubstr("musl")));
}

TEST(CLibraryTest, OwnProgramNeedsNoMoreThanItHas) {
  const CLibraryNeed need = CLibraryNeedOf("/proc/self/exe");
  EXPECT_FALSE(need.is_musl);
  EXPECT_GT(need.glibc, GlibcVersion(2, 0));
  EXPECT_LE(need.glibc, OwnGlibc());
}

TEST(CLibraryTest, WhatIsNoElfFileNeedsNothing) {
  for (const char* path : {"/no/such/file", "/etc/passwd", "/tmp"})
    EXPECT_EQ(CLibraryNeedOf(path).glibc, GlibcVersion()) << path;
}

}  // namespace
}  // namespace walkhammer
