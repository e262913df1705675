// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/plain_text.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "harness/hs_err/gunzip.h"
#include "harness/hs_err/utf8.h"

namespace walkhammer {
namespace {

struct Packing {
  std::string_view magic, name;
};
constexpr Packing kPackings[] = {{"\x1f\x9d", "compress"},
                                 {"\xfd"
                                  "7zXZ",
                                  "xz"},
                                 {"PK\x03\x04", "zip"},
                                 {"\x28\xb5\x2f\xfd", "zstd"},
                                 {"\x04\x22\x4d\x18", "lz4"},
                                 {"BZh91AY&SY", "bzip2"}};

enum class Units { kBytes, kLittle, kBig };

// A text of two bytes for each character, most of which are below 256.
Units UnitsOf(std::string_view bytes) {
  if (bytes.starts_with("\xff\xfe")) return Units::kLittle;
  if (bytes.starts_with("\xfe\xff")) return Units::kBig;
  size_t nuls[2] = {};
  const size_t looked_at = std::min<size_t>(bytes.size(), 4096);
  for (size_t i = 0; i < looked_at; i++) nuls[i % 2] += bytes[i] == '\0' ? 1 : 0;
  if (nuls[1] > looked_at / 4 && nuls[0] < looked_at / 20) return Units::kLittle;
  return nuls[0] > looked_at / 4 && nuls[1] < looked_at / 20 ? Units::kBig : Units::kBytes;
}

std::string FromUtf16(std::string_view bytes, bool is_big) {
  constexpr uint32_t kReplacement = 0xfffd, kByteOrderMark = 0xfeff;
  const auto unit = [&](size_t at) -> uint32_t {
    if (at + 1 >= bytes.size()) return kReplacement;
    const auto first = static_cast<uint8_t>(bytes[at]),
               second = static_cast<uint8_t>(bytes[at + 1]);
    return is_big ? first << 8 | second : second << 8 | first;
  };
  std::string text;
  for (size_t at = 0; at < bytes.size(); at += 2) {
    uint32_t code = unit(at);
    if (code >> 11 == 0xd800 >> 11) {
      const uint32_t low = unit(at + 2);
      const bool is_pair = code < 0xdc00 && low >> 10 == 0xdc00 >> 10;
      code = is_pair ? 0x10000 + ((code & 0x3ff) << 10 | (low & 0x3ff)) : kReplacement;
      if (is_pair) at += 2;
    }
    if (code != kByteOrderMark) AppendUtf8(code, text);
  }
  return text;
}

// Programs, pictures and the like have far more; colours of terminals are in many logs.
bool HasTooManyControls(std::string_view text) {
  const auto controls = std::count_if(text.begin(), text.end(), [](char c) {
    return static_cast<uint8_t>(c) < ' ' &&
           std::string_view("\t\n\r\f\v\b\x1b").find(c) == std::string_view::npos;
  });
  return static_cast<size_t>(controls) > text.size() / 20;
}

}  // namespace

Result<std::string> PlainText(std::string bytes, const std::string& name) {
  if (bytes.starts_with(kGzipMagic)) {
    std::optional<std::string> unpacked = Gunzip(bytes);
    if (!unpacked) return BadInput(name + " is compressed (gzip), and damaged or too large");
    bytes = std::move(*unpacked);
  }
  for (const Packing& packing : kPackings)
    if (bytes.starts_with(packing.magic))
      return BadInput(name + " is compressed (" + std::string(packing.name) + "): unpack it first");
  if (const Units units = UnitsOf(bytes); units != Units::kBytes)
    bytes = FromUtf16(bytes, units == Units::kBig);
  std::erase(bytes, '\0');
  if (HasTooManyControls(bytes)) return BadInput(name + " is not a text");
  for (size_t at = bytes.find('\r'); at != std::string::npos; at = bytes.find('\r', at + 1))
    if (at + 1 >= bytes.size() || bytes[at + 1] != '\n') bytes[at] = '\n';
  return bytes;
}

}  // namespace walkhammer
