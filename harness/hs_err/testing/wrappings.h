// SPDX-License-Identifier: Apache-2.0
// The forms in which logs reach people: behind the prefixes of collectors and builds, in JSON, in
// pages and tables. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_WRAPPINGS_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_WRAPPINGS_H_

#include <cstddef>
#include <random>
#include <string>

namespace walkhammer {

size_t WrappingCount();
std::string NameOfWrapping(size_t which);  // which < WrappingCount()
std::string WrappedBy(size_t which, const std::string& text);

// How many texts a test makes: WALKHAMMER_TEXTS, else `few`, or 60 under a sanitizer.
size_t TextsWanted(size_t few);

// The text with some lines lost, doubled, cut, or with another one behind them.
std::string Damaged(const std::string& text, std::mt19937& random);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_WRAPPINGS_H_
