// SPDX-License-Identifier: Apache-2.0
// walker_mutants: JDKs whose walker is broken in one place. ci/walker_mutants.sh runs the gate on
// them.
//   walker_mutants list JDK REACHED SEED COUNT   one mutant a line: id, function+offset, bytes
//                                                before and after, instruction
//   walker_mutants make JDK ID OUT               makes the mutant's JDK in OUT
// REACHED is a file with the addresses of the blocks that may be broken, decimal, one a line; "-":
// all that AsyncGetCallTrace can reach.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "harness/base/print.h"
#include "harness/jvm/images/jdk.h"
#include "harness/mutants/mutant.h"

namespace walkhammer {
namespace {

Result<uint64_t> Number(const std::string& text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    return BadInput("'" + text + "' is not a whole number");
  return value;
}

Result<std::set<uint64_t>> ReadReached(const std::string& path) {
  std::set<uint64_t> reached;
  if (path == "-") return reached;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    ASSIGN_OR_RETURN(const uint64_t address, Number(line));
    reached.insert(address);
  }
  if (reached.empty()) return BadInput(path + " has no address of a block");
  return reached;
}

Status List(const Jdk& jdk, const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const auto reached, ReadReached(words[2]));
  ASSIGN_OR_RETURN(const uint64_t seed, Number(words[3]));
  ASSIGN_OR_RETURN(const uint64_t count, Number(words[4]));
  ASSIGN_OR_RETURN(auto mutants, FindMutants(jdk.libjvm, reached));
  for (const Mutant& m : ChooseMutants(std::move(mutants), seed, count))
    fmt::print("{}\t{}+{:#x}\t{:02x}\t{:02x}\t{}\n", m.Id(), m.function, m.in_function,
               fmt::join(m.before, ""), fmt::join(m.after, ""), m.text);
  return Ok();
}

Status Make(const Jdk& jdk, const std::vector<std::string>& words) {
  ASSIGN_OR_RETURN(const auto mutants, FindMutants(jdk.libjvm, {}));
  const auto mutant = std::find_if(mutants.begin(), mutants.end(),
                                   [&](const Mutant& m) { return m.Id() == words[2]; });
  if (mutant == mutants.end()) return BadInput(jdk.home + " has no mutant " + words[2]);
  return MakeMutant(jdk.home, jdk.libjvm, *mutant, words[3]);
}

Status Run(const std::vector<std::string>& words) {
  const bool lists = words.size() == 5 && words[0] == "list";
  if (!lists && !(words.size() == 4 && words[0] == "make"))
    return BadInput("use: walker_mutants list JDK REACHED SEED COUNT, or make JDK ID OUT");
  ASSIGN_OR_RETURN(const Jdk jdk, OpenJdk(words[1]));
  return lists ? List(jdk, words) : Make(jdk, words);
}

}  // namespace
}  // namespace walkhammer

// NOLINTNEXTLINE(bugprone-exception-escape): that ends the program, as it should
int main(int argc, char** argv) {
  const auto done = walkhammer::Run(std::vector<std::string>(argv + 1, argv + argc));
  if (done.ok()) return 0;
  walkhammer::Print(stderr, "walker_mutants: {}\n", done.failure().message);
  return static_cast<int>(done.failure().code);
}
