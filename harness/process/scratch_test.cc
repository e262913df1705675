// SPDX-License-Identifier: Apache-2.0
#include "harness/process/scratch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/base/testing/scoped_variable.h"
#include "harness/base/testing/temporary_folder.h"
namespace walkhammer {
namespace {

namespace fs = std::filesystem;

// A TMPDIR of the test's own.
class Scratch : public testing::Test {
 protected:
  size_t Folders() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(tmp_), {}));
  }
  // The folder of a process that makes one and is killed.
  void LeaveOneBehind() const {
    const pid_t child = fork();
    if (child == 0) {
      const ScratchFolder folder;
      std::ofstream(folder.path() + "/large") << "x";
      raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
  }

  TemporaryFolder folder_;
  const std::string& tmp_ = folder_.path();
  const ScopedVariable variable_{"TMPDIR", tmp_};
};

TEST_F(Scratch, IsGoneWithTheObject) {
  {
    const ScratchFolder folder;
    ASSERT_TRUE(fs::is_directory(folder.path()));
    EXPECT_EQ(fs::status(folder.path()).permissions(), fs::perms::owner_all);
  }
  EXPECT_EQ(Folders(), 0u);
}

TEST_F(Scratch, OfAKilledProcessIsRemovedAtTheNextStart) {
  LeaveOneBehind();
  LeaveOneBehind();  // which removes the first
  ASSERT_EQ(Folders(), 1u);
  const ScratchFolder folder;
  EXPECT_EQ(Folders(), 1u);
  EXPECT_TRUE(fs::is_directory(folder.path()));
}

TEST_F(Scratch, OfALivingProcessStays) {
  const ScratchFolder first;
  const ScratchFolder second;
  EXPECT_NE(first.path(), second.path());
  LeaveOneBehind();
  EXPECT_TRUE(fs::is_directory(first.path()));
  EXPECT_TRUE(fs::is_directory(second.path()));
}

TEST_F(Scratch, WhatIsNotOursStays) {
  const std::string other = tmp_ + "/walkhammer-abcdef", elsewhere = tmp_ + "/elsewhere";
  fs::create_directory(other);  // without a lock file: of an older walkhammer, or no folder of ours
  fs::create_directory(elsewhere);
  std::ofstream(elsewhere + "/.lock") << "";
  fs::create_directory_symlink(elsewhere, tmp_ + "/walkhammer-link00");
  const ScratchFolder folder;
  EXPECT_TRUE(fs::exists(other));
  EXPECT_TRUE(fs::exists(elsewhere + "/.lock"));
  EXPECT_EQ(Folders(), 4u);
}

TEST_F(Scratch, IsEmptyWhereNoneCanBeMade) {
  setenv("TMPDIR", "/no/such/folder", 1);
  const ScratchFolder folder;
  EXPECT_EQ(folder.path(), "");
}

}  // namespace
}  // namespace walkhammer
