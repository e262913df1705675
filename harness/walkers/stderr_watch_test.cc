// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/stderr_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <vector>

namespace walkhammer {
namespace {

// Redirects stderr to `to`, which it closes, for this object's lifetime.
class Redirected {
 public:
  explicit Redirected(int to) : saved_(dup(2)) {
    dup2(to, 2);
    close(to);
  }
  ~Redirected() {
    dup2(saved_, 2);
    close(saved_);
  }

 private:
  int saved_;
};

void Say(const std::string& text) {
  ASSERT_EQ(write(2, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

class StderrWatchTest : public testing::Test {
 protected:
  // Tests look while stderr is redirected, and compare afterwards, so that gtest can report.
  void Look() { saw_.push_back(watch_.Saw("a crash")); }

  StderrWatch watch_;
  std::vector<bool> saw_;
};

TEST_F(StderrWatchTest, SeesWhatCameSinceTheLastLook) {
  const std::string path = ::testing::TempDir() + "/stderr";
  {
    Redirected file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    Say("a crash\n");
    watch_.Begin();
    Look();
    Say("a warning\n");
    Look();
    Say("a crash\n");
    Look();
    Look();  // it was seen before
    Say("a crash\n" + std::string(2000, '.'));
    Look();  // only the last kilobyte is looked at
    Say(std::string(2000, '.') + "a crash\n");
    Look();
  }
  EXPECT_EQ(saw_, (std::vector<bool>{false, false, true, false, false, true}));
}

// As the parent does with a log that grows.
TEST_F(StderrWatchTest, GoesOnInAFileThatWasEmptied) {
  const std::string path = ::testing::TempDir() + "/stderr-emptied";
  {
    Redirected file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600));
    Say(std::string(5000, '.'));
    watch_.Begin();
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    Look();
    Say("a crash\n");
    Look();
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    Say("fine\n");
    Look();
  }
  EXPECT_EQ(saw_, (std::vector<bool>{false, true, false}));
}

TEST_F(StderrWatchTest, WhatIsNoFileShowsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  {
    Redirected file(ends[1]);
    watch_.Begin();
    Say("a crash\n");
    Look();
  }
  close(ends[0]);
  EXPECT_EQ(saw_, std::vector<bool>{false});
}

}  // namespace
}  // namespace walkhammer
