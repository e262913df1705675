// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/makers.h"

#include <iterator>

#include "harness/walkers/puzzles.h"

namespace walkhammer {

std::unique_ptr<Walker> MakeWalker(const WalkerInfo& row) {
  using Maker = std::unique_ptr<Walker> (*)();
  constexpr Maker kMakers[] = {
#define ROW(make, ...) make,
#include "harness/request/walker_rows.inc"
#undef ROW
  };
  const auto index = static_cast<size_t>(&row - AllWalkers().data());
  return index < std::size(kMakers) ? kMakers[index]() : MakePuzzle(index - std::size(kMakers));
}

}  // namespace walkhammer
