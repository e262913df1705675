// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/ipc/launch.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReadFlagsTest, EachJdkGetsItsOwn) {
  const std::string path = "/tmp/walkhammer-flags-" + std::to_string(getpid());
  std::ofstream(path) << "# a comment\n\n-Xa\n16- -Xnew\n9-15 -Xmiddle\n8-8 -Xold\nnonsense\n3\n";
  EXPECT_THAT(ReadFlags(path, 8), ElementsAre("-Xa", "-Xold"));
  EXPECT_THAT(ReadFlags(path, 9), ElementsAre("-Xa", "-Xmiddle"));
  EXPECT_THAT(ReadFlags(path, 15), ElementsAre("-Xa", "-Xmiddle"));
  EXPECT_THAT(ReadFlags(path, 16), ElementsAre("-Xa", "-Xnew"));
  EXPECT_THAT(ReadFlags(path, 28), ElementsAre("-Xa", "-Xnew"));
  EXPECT_THAT(ReadFlags(path, 0), ElementsAre("-Xa", "-Xnew"));  // unknown: as the newest
  std::filesystem::remove(path);
  EXPECT_THAT(ReadFlags(path, 17), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
