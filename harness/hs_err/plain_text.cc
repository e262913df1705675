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

// A line of a container's log, as Kubernetes' runtimes (CRI) write it: "TIME stdout P text".
struct CriLine {
  std::string_view stream;  // "stdout" or "stderr"; empty: another kind of line
  bool is_partial = false;  // its text goes on in the stream's next line
  std::string_view text;
};

CriLine CriLineOf(std::string_view line) {
  if (line.empty() || line[0] < '0' || line[0] > '9') return {};
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return {};
  const std::string_view rest = line.substr(blank + 1);
  for (const std::string_view stream : {"stdout", "stderr"}) {
    if (!rest.starts_with(stream)) continue;
    const std::string_view tag = rest.substr(stream.size(), 3);
    if (tag == " P " || tag == " F ")
      return {stream, tag == " P ", rest.substr(stream.size() + tag.size())};
  }
  return {};
}

// Such runtimes cut lines at 16 KiB, also within a word.
std::string WithPartialLinesJoined(std::string bytes) {
  if (bytes.find(" P ") == std::string::npos) return bytes;
  std::string joined;
  CriLine last;
  size_t tag = 0;  // where the tag of the last line that is not a continuation stands
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(bytes.find('\n', at), bytes.size());
    const std::string_view line = std::string_view(bytes).substr(at, end - at);
    const CriLine cri = CriLineOf(line);
    const bool goes_on = last.is_partial && cri.stream == last.stream;
    if (!goes_on && at > 0) joined += '\n';
    if (!goes_on) tag = joined.size() + line.size() - cri.text.size() - 2;
    if (goes_on) joined[tag] = 'F';  // so it has the prefix of the other lines
    joined += goes_on ? cri.text : line;
    last = cri;
    at = end + 1;
  }
  if (bytes.ends_with('\n')) joined += '\n';
  return joined;
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
  return WithPartialLinesJoined(std::move(bytes));
}

}  // namespace walkhammer
