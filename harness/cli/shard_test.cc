// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/shard.h"

#include <gtest/gtest.h>

#include "harness/base/testing/fails_with.h"

namespace walkhammer {
namespace {

TEST(Shard, IsReadAsWritten) {
  for (const char* text : {"1/2", "2/2", "8/8", "100000/100000"}) {
    const auto shard = ParseShard(text);
    ASSERT_TRUE(shard.ok()) << text;
    EXPECT_EQ(shard.value().Text(), text);
  }
  EXPECT_TRUE(ParseShard("").value().is_all());
  EXPECT_EQ(ParseShard("1/1").value().Text(), "");
}

TEST(Shard, WhatIsNoneIsRefused) {
  for (const char* text : {"0/2", "3/2", "1", "/", "1/", "/2", "1/0", "-1/2", "1/2/3", "1/2 ",
                           " 1/2", "a/b", "1/100001", "1/18446744073709551617", "0x1/2"})
    EXPECT_THAT(ParseShard(text), FailsWith(ExitCode::kBadInput)) << text;
}

TEST(Shard, EachPieceHasOneShard) {
  for (uint64_t count = 1; count <= 7; count++)
    for (uint64_t pieces = 0; pieces <= 22; pieces++) {
      uint64_t all = 0;
      for (uint64_t index = 0; index < count; index++) {
        uint64_t mine = 0;
        for (uint64_t piece = 0; piece < pieces; piece++) mine += piece % count == index ? 1 : 0;
        EXPECT_EQ((Shard{index, count}.SizeOf(pieces)), mine) << index << "/" << count;
        all += mine;
      }
      EXPECT_EQ(all, pieces);
    }
}

}  // namespace
}  // namespace walkhammer
