// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/base/testing/temporary_folder.h"
#include "harness/ipc/launch.h"

namespace walkhammer {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ReadFlagsTest, EachJdkGetsItsOwn) {
  const TemporaryFolder folder;
  const std::string path = folder.Write(
      "flags", "# a comment\n\n-Xa\n16- -Xnew\n9-15 -Xmiddle\n8-8 -Xold\nnonsense\n3\n");
  EXPECT_THAT(ReadFlags(path, 8), ElementsAre("-Xa", "-Xold"));
  EXPECT_THAT(ReadFlags(path, 9), ElementsAre("-Xa", "-Xmiddle"));
  EXPECT_THAT(ReadFlags(path, 15), ElementsAre("-Xa", "-Xmiddle"));
  EXPECT_THAT(ReadFlags(path, 16), ElementsAre("-Xa", "-Xnew"));
  EXPECT_THAT(ReadFlags(path, 28), ElementsAre("-Xa", "-Xnew"));
  EXPECT_THAT(ReadFlags(path, 0), ElementsAre("-Xa", "-Xnew"));  // unknown: as the newest
  EXPECT_THAT(ReadFlags(folder.Under("none"), 17), IsEmpty());
}

}  // namespace
}  // namespace walkhammer
