// SPDX-License-Identifier: Apache-2.0
#include "harness/hs_err/gunzip.h"

#include <zlib.h>

#include <vector>

namespace walkhammer {
namespace {

// Unpacks one member, and takes it from `bytes`.
bool UnpackMember(std::string_view& bytes, std::string& text) {
  z_stream stream = {};
  constexpr int kGzipOnly = 16;
  if (inflateInit2(&stream, MAX_WBITS + kGzipOnly) != Z_OK) return false;
  // zlib does not write what it reads, but its type says so.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::vector<char> part(size_t{64} << 10);
  int status = Z_OK;
  while (status == Z_OK && text.size() <= kMostUnzipped) {
    stream.next_out = reinterpret_cast<Bytef*>(part.data());
    stream.avail_out = static_cast<uInt>(part.size());
    status = inflate(&stream, Z_NO_FLUSH);
    text.append(part.data(), part.size() - stream.avail_out);
  }
  bytes.remove_prefix(bytes.size() - stream.avail_in);
  (void)inflateEnd(&stream);
  return status == Z_STREAM_END && text.size() <= kMostUnzipped;
}

}  // namespace

std::optional<std::string> Gunzip(std::string_view bytes) {
  std::string text;
  while (bytes.starts_with(kGzipMagic))
    if (!UnpackMember(bytes, text)) return {};
  return text;
}

}  // namespace walkhammer
