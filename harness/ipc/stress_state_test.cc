// SPDX-License-Identifier: Apache-2.0
#include "harness/ipc/stress_state.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

namespace walkhammer {
namespace {

TEST(CodeWordTest, HasEightBytesAndNoneOfTheNextPage) {
  constexpr uint64_t kPage = 4096;
  auto* pages = static_cast<uint8_t*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  for (uint64_t i = 0; i < kPage; i++) pages[i] = static_cast<uint8_t>(i % 251);
  ASSERT_EQ(mprotect(pages + kPage, kPage, PROT_NONE), 0);
  const auto begin = reinterpret_cast<uint64_t>(pages);
  for (uint64_t at = 0; at < kPage; at++) {
    const uint64_t bytes = std::min<uint64_t>(8, kPage - at);
    uint64_t wanted = 0;
    for (uint64_t i = 0; i < bytes; i++) wanted |= uint64_t{pages[at + i]} << (8 * i);
    ASSERT_EQ(CodeBytesAt(begin + at), static_cast<int>(bytes)) << at;
    ASSERT_EQ(CodeWordAt(begin + at), wanted) << at;
  }
  munmap(pages, 2 * kPage);
}

}  // namespace
}  // namespace walkhammer
