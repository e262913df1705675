// SPDX-License-Identifier: Apache-2.0
// Gunzip: what a gzip file holds. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_GUNZIP_H_
#define WALKHAMMER_HARNESS_HS_ERR_GUNZIP_H_

#include <optional>
#include <string>
#include <string_view>

namespace walkhammer {

inline constexpr std::string_view kGzipMagic = "\x1f\x8b";
inline constexpr size_t kMostUnzipped = size_t{256} << 20;  // bytes

// Unpacks all members of `bytes`. None: they are damaged, or hold more than kMostUnzipped.
std::optional<std::string> Gunzip(std::string_view bytes);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_GUNZIP_H_
