// SPDX-License-Identifier: Apache-2.0
// Rows of synthetic x86_64 code, for tests. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_TESTING_H_
#define WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_TESTING_H_

#include <elf.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "harness/frame_rows/frame_rows.h"

namespace walkhammer {

using Bytes = std::vector<uint8_t>;

inline constexpr uint64_t kBegin = 0x7f0000001000;

inline std::vector<FrameRow> RowsOf(FrameCode code) {
  auto decoder = FrameDecoder::For(EM_X86_64);
  EXPECT_TRUE(decoder.ok());
  code.begin = kBegin;
  return FrameRowsOf(decoder.value(), code);
}

// Rows of code that HotSpot names so.
inline std::vector<FrameRow> RowsOf(std::string_view kind, std::string_view name,
                                    const Bytes& bytes, int frame_words = 0) {
  return RowsOf(FrameCodeOf(kind, name, kBegin, bytes, frame_words));
}

inline std::vector<std::string> Texts(const std::vector<FrameRow>& rows) {
  std::vector<std::string> texts;
  for (const FrameRow& row : rows) texts.push_back(PlaceText(row));
  return texts;
}

inline std::vector<std::string> SenderTexts(const std::vector<FrameRow>& rows) {
  std::vector<std::string> texts;
  for (const FrameRow& row : rows) texts.push_back(SenderText(row.sender));
  return texts;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_FRAME_ROWS_FRAME_ROWS_TESTING_H_
