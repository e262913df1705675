// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/trap_coverage.h"

#include <algorithm>
#include <cstring>

#include "harness/guard/code_patch.h"

namespace walkhammer {
bool TrapCoverage::AddPlace(uint64_t address, uint32_t file_code, std::vector<Place>& places) {
  CodeUnit expected;
  std::memcpy(&expected, &file_code, sizeof expected);
  places.push_back({address, expected});
  return ReadCode(address) == expected;
}

Result<std::unique_ptr<TrapCoverage>> TrapCoverage::Prepare(const BlockMap& map, uint64_t bias,
                                                            const Sinks& sinks) {
  std::unique_ptr<TrapCoverage> coverage(new TrapCoverage);
  coverage->sinks_ = sinks;
  coverage->hit_ = std::make_unique<std::atomic<uint8_t>[]>(map.blocks.size());
  bool as_in_file = true;
  for (const Block& block : map.blocks)
    as_in_file &= coverage->AddPlace(block.address + bias, block.code, coverage->blocks_);
  for (const DeathEntry& death : map.deaths)
    as_in_file &= coverage->AddPlace(death.address + bias, death.code, coverage->deaths_);
  if (!as_in_file)
    return Unable(
        "the library in memory is not the file that its blocks were found in: has it been "
        "replaced while this process runs?");

  std::vector<uint64_t> addresses;
  for (const auto* places : {&coverage->blocks_, &coverage->deaths_})
    for (const Place& place : *places) addresses.push_back(place.address);
  std::sort(addresses.begin(), addresses.end());
  RETURN_IF_ERROR(MakeCodeWritable(addresses, "run without coverage"));
  RETURN_IF_ERROR(UnblockTraps());
  return coverage;
}

// Leaves a trap instruction of the code's own in place: its signal is not ours to handle.
void TrapCoverage::Plant(const Place& place) {
  if (place.original != kTrapCode && ReadCode(place.address) != kTrapCode)
    WriteCode(place.address, kTrapCode);
}

// Reads before it writes: a store into running code costs its threads a flushed pipeline.
void TrapCoverage::Restore(const Place& place) {
  const auto original = static_cast<CodeUnit>(place.original);
  if (ReadCode(place.address) != original) WriteCode(place.address, original);
}

void TrapCoverage::RestoreAll() {
  for (const Place& place : blocks_) Restore(place);
  for (const Place& place : deaths_) Restore(place);
}

void TrapCoverage::Arm() {
  if (dying_.load()) return;
  for (const Place& place : deaths_) Plant(place);
  for (size_t i = 0; i < blocks_.size(); i++)
    if (hit_[i].load(std::memory_order_relaxed) == 0) Plant(blocks_[i]);
  // Another thread may have begun to report the JVM's death; it must not hit traps planted since.
  if (dying_.load()) RestoreAll();
}

void TrapCoverage::Disarm() { RestoreAll(); }

void TrapCoverage::Forget() {
  for (size_t i = 0; i < blocks_.size(); i++) hit_[i].store(0, std::memory_order_relaxed);
}

int TrapCoverage::FindPlace(const std::vector<Place>& places, uint64_t address) {
  const auto at = std::lower_bound(places.begin(), places.end(), address,
                                   [](const Place& p, uint64_t a) { return p.address < a; });
  if (at == places.end() || at->address != address) return -1;
  return static_cast<int>(at - places.begin());
}

// The tables of places never change, so the pc is all that is needed. The trap may be gone by now:
// Disarm or another thread may have restored the instruction after this thread hit the trap and
// before its signal came. Going back to the restored instruction is right in each case. If Arm has
// planted the trap again, this call removes it, and hits are missed until the next Arm.
bool TrapCoverage::OnTrap(ucontext_t& context, bool walking) {
  Registers registers = ReadContext(context);
  registers.pc -= kTrapPcAhead;
  const int block = FindPlace(blocks_, registers.pc);
  const int death = FindPlace(deaths_, registers.pc);
  if (death >= 0) {
    dying_.store(true);
    RestoreAll();
  }
  if (block >= 0) {
    const Place& place = blocks_[static_cast<size_t>(block)];
    if (place.original == kTrapCode) return false;
    if (walking) {
      hit_[static_cast<size_t>(block)].store(1, std::memory_order_relaxed);
      if (sinks_.run != nullptr) sinks_.run[static_cast<uint32_t>(block) % sinks_.run_size] = 1;
      sinks_.covered[block] = 1;
    }
    Restore(place);
  }
  if (block < 0 && death < 0) return false;
  WriteContext(registers, context);
  return true;
}

size_t TrapCoverage::covered() const {
  return static_cast<size_t>(std::count_if(sinks_.covered, sinks_.covered + blocks_.size(),
                                           [](uint8_t b) { return b != 0; }));
}

}  // namespace walkhammer
