// SPDX-License-Identifier: Apache-2.0
// --provider: who implements the walkers that are named beside it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PROVIDER_H_
#define WALKHAMMER_HARNESS_CLI_PROVIDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct ProviderChoice {
  std::string word;     // "jdk", "ref"; empty: each walker's own
  std::string library;  // absolute path of what stands in for libjvm, with word "jdk"; else empty
};

// "jdk", "ref", "" or the path of a library, which holds a '/' or ends in ".so".
Result<ProviderChoice> ProviderNamed(const std::string& text);
// Where the walker is known already: "" or the path of a library, which is the value.
Result<std::string> ProviderLibraryNamed(const std::string& text);

// The walker of that name from that provider; the value is the index. asgst and jdk: asgst@jdk.
Result<int> WalkerNamed(std::string_view name, const ProviderChoice& provider);

// The walkers of --walker: "agct,asgst" and repeated options alike, agct where there are none; the
// values are indexes. Fails where a library was named and none of them takes anything from it.
Result<std::vector<int>> WalkersNamed(const std::vector<std::string>& lists,
                                      const ProviderChoice& provider);

// Of a walker that runs with the choice, as run stores keep it.
std::string ProviderOf(int walker, const ProviderChoice& provider);

// Fails where a library was named and the walker takes nothing from it.
Status CheckUses(int walker, const ProviderChoice& provider);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PROVIDER_H_
