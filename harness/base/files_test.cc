// SPDX-License-Identifier: Apache-2.0
#include "harness/base/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "harness/base/mappings.h"
#include "harness/base/names.h"
#include "harness/base/shell.h"
#include "harness/base/testing/fails_with.h"
#include "harness/base/testing/scoped_variable.h"
#include "harness/base/testing/temporary_folder.h"

namespace walkhammer {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(Files, ReadsAllOrTheBeginning) {
  const TemporaryFolder folder;
  const std::string text(200000, 'x');
  const std::string path = folder.Write("file", text + std::string(1, '\0') + "end");
  EXPECT_EQ(ReadFile(path), text + std::string(1, '\0') + "end");
  EXPECT_EQ(ReadFile(path, 3), "xxx");
  EXPECT_EQ(ReadFile(path, 0), "");
  EXPECT_EQ(ReadFile(folder.path()), "");
  EXPECT_EQ(ReadFile(folder.Under("none")), "");
  EXPECT_GT(ReadFile("/proc/self/maps").size(), 100U) << "a file that tells no size";
}

TEST(Files, TheCommandIsWhatAShellFinds) {
  const TemporaryFolder folder;
  const ScopedVariable path_variable("PATH", folder.path());
  EXPECT_EQ(OwnCommand(), ShellWord(BesideExecutable("walkhammer")));
  folder.Write("walkhammer", "another");
  std::filesystem::permissions(folder.Under("walkhammer"), std::filesystem::perms::owner_all);
  EXPECT_EQ(OwnCommand(), ShellWord(BesideExecutable("walkhammer")));
  std::filesystem::remove(folder.Under("walkhammer"));
  std::filesystem::create_symlink(OwnProgram(), folder.Under("walkhammer"));
  EXPECT_EQ(OwnCommand(), "walkhammer");
}

TEST(Files, FindsProgramsAlone) {
  const TemporaryFolder folder;
  const ScopedVariable path_variable("PATH",
                                     "/nowhere:" + folder.path() + ":" + std::getenv("PATH"));
  const std::string path = folder.Write("wh-program", "");
  EXPECT_EQ(FindProgram("wh-program"), "") << "not executable";
  EXPECT_FALSE(IsProgram(path));
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  EXPECT_EQ(FindProgram("wh-program"), path);
  std::filesystem::create_directory(folder.Under("wh-folder"));
  EXPECT_EQ(FindProgram("wh-folder"), "");
  EXPECT_NE(FindProgram("sh"), "");
  setenv("PATH", "", 1);
  EXPECT_EQ(FindProgram("sh"), "");
  unsetenv("PATH");
  EXPECT_EQ(FindProgram("sh"), "");
}

// A reader of a FIFO without a writer waits endlessly.
TEST(Files, OnlyRegularOnesAreRead) {
  const TemporaryFolder folder;
  const std::string fifo = folder.Under("fifo"), link = folder.Under("link");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const auto& [path, why] : {std::pair<std::string, const char*>{fifo, "not a regular file"},
                                  {"/dev/zero", "not a regular file"},
                                  {folder.path(), "it is a folder"},
                                  {folder.Under("none"), "No such file"}}) {
    EXPECT_EQ(ReadFile(path), "") << path;
    EXPECT_THAT(
        ReadFileOf(path, "a list"),
        FailsWith(ExitCode::kBadInput,
                  AllOf(HasSubstr("cannot read " + path + " as a list: "), HasSubstr(why))));
  }
  std::filesystem::create_symlink(folder.Write("file", "text"), link);
  EXPECT_EQ(ReadFileOf(link, "a list").value(), "text");
  EXPECT_EQ(ReadFileOf(folder.Write("empty", ""), "a list").value(), "");
}

TEST(Files, TheirSizeIsBounded) {
  const TemporaryFolder folder;
  const std::string fits = folder.Write("fits", std::string(1 << 20, 'x')),
                    large = folder.Write("large", std::string((1 << 20) + 1, 'x'));
  EXPECT_TRUE(ReadFileOf(fits, "a list").ok());
  EXPECT_THAT(ReadFileOf(large, "a list"),
              FailsWith(ExitCode::kBadInput, large + " is larger than 1 MiB, so it is not a list"));
  EXPECT_TRUE(ReadFileOf(large, "a list", 2).ok());
}

}  // namespace
}  // namespace walkhammer
