// SPDX-License-Identifier: Apache-2.0
// Signatures of bugs: one line that names walker and finding without anything of one build, such as
// "agct: crash in frame::safe_for_sender". A bug has patterns of them: '*' stands for any text,
// "\*" for a star and "\\" for a backslash. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BUGS_SIGNATURE_PATTERN_H_
#define WALKHAMMER_HARNESS_BUGS_SIGNATURE_PATTERN_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace walkhammer {

// True if the pattern matches all of `signature`. Takes time linear in their product at most.
bool MatchesSignature(std::string_view pattern, std::string_view signature);

// How much of a signature the pattern names: its bytes besides stars. Of several patterns that
// match a signature, the one that names most is meant.
size_t NamedBytes(std::string_view pattern);

// The pattern that matches `signature`, and the same with other line numbers: those of failed
// checks, as "(codeCache.cpp:654)", differ from build to build.
std::string PatternOf(std::string_view signature);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BUGS_SIGNATURE_PATTERN_H_
