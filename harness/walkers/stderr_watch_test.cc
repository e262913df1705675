// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/stderr_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>

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

TEST(StderrWatch, SeesWhatCameSinceTheLastLook) {
  const std::string path = ::testing::TempDir() + "/stderr";
  StderrWatch watch;
  bool early = true, none = true, now = false, again = true, buried = true, last = false;
  {
    Redirected file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600));
    Say("a crash\n");
    watch.Begin();
    early = watch.Saw("a crash");
    Say("a warning\n");
    none = watch.Saw("a crash");
    Say("a crash\n");
    now = watch.Saw("a crash");
    again = watch.Saw("a crash");
    Say("a crash\n" + std::string(2000, '.'));
    buried = watch.Saw("a crash");
    Say(std::string(2000, '.') + "a crash\n");
    last = watch.Saw("a crash");
  }
  EXPECT_FALSE(early) << "it came before the watch";
  EXPECT_FALSE(none);
  EXPECT_TRUE(now);
  EXPECT_FALSE(again) << "it was seen before";
  EXPECT_FALSE(buried) << "only the last kilobyte is looked at";
  EXPECT_TRUE(last);
}

// As the parent does with a log that grows.
TEST(StderrWatch, GoesOnInAFileThatWasEmptied) {
  const std::string path = ::testing::TempDir() + "/stderr-emptied";
  StderrWatch watch;
  bool seen = false, none = true, again = true;
  {
    Redirected file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600));
    Say(std::string(5000, '.'));
    watch.Begin();
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    none = watch.Saw("a crash");
    Say("a crash\n");
    seen = watch.Saw("a crash");
    ASSERT_EQ(truncate(path.c_str(), 0), 0);
    Say("fine\n");
    again = watch.Saw("a crash");
  }
  EXPECT_FALSE(none);
  EXPECT_TRUE(seen);
  EXPECT_FALSE(again);
}

TEST(StderrWatch, WhatIsNoFileShowsNothing) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  StderrWatch watch;
  bool saw = true;
  {
    Redirected file(ends[1]);
    watch.Begin();
    Say("a crash\n");
    saw = watch.Saw("a crash");
  }
  close(ends[0]);
  EXPECT_FALSE(saw);
}

}  // namespace
}  // namespace walkhammer
