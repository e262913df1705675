// SPDX-License-Identifier: Apache-2.0
// --provider: which implementation the walkers of --walker use. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CLI_PROVIDER_H_
#define WALKHAMMER_HARNESS_CLI_PROVIDER_H_

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/result.h"

namespace walkhammer {

struct ProviderChoice {
  std::string word;     // "jdk", "ref"; empty: the walker's own provider
  std::string library;  // with word "jdk": absolute path of a stand-in for libjvm; else empty
};

// Reads "jdk", "ref", "" or the path of a library, which contains a '/' or ends in ".so". kBadInput
// for anything else.
Result<ProviderChoice> ProviderNamed(const std::string& text);
// Reads "" or the path of a library, and returns it: for verbs whose file names the walker.
Result<std::string> ProviderLibraryNamed(const std::string& text);

// Takes the library of "plugin:FILE.so" out of the names of walkers, and returns it as that of
// --provider; the other walkers keep their own providers. Returns `provider` if no walker is of
// this form. kBadInput: two libraries are named.
Result<std::string> TakePlugin(std::vector<std::string>& walkers, const std::string& provider);

// Index of the walker of this name from this provider: asgst from jdk is asgst@jdk, agct from a
// library that exports AsyncGetCallTrace is agct-library.
Result<int> WalkerNamed(std::string_view name, const ProviderChoice& provider);

// Indexes of the walkers of --walker, which may be a list ("agct,asgst") or repeated; none: agct.
// Fails if a library was named and no walker uses it.
Result<std::vector<int>> WalkersNamed(const std::vector<std::string>& lists,
                                      const ProviderChoice& provider);

// Fails with the reason of the first walker that cannot walk in `mode`; see
// WalkerInfo::refused_mode, and for a plugin walkhammer_walker.h.
Status CheckMode(const std::vector<int>& walkers, std::string_view mode,
                 const ProviderChoice& provider);

// The provider of a walker under this choice, as a run's store keeps it.
std::string ProviderOf(int walker, const ProviderChoice& provider);

// Fails if a library was named and the walker does not use it.
Status CheckUses(int walker, const ProviderChoice& provider);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CLI_PROVIDER_H_
