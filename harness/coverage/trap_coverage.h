// SPDX-License-Identifier: Apache-2.0
// TrapCoverage: basic-block coverage of uninstrumented code. A trap instruction replaces the first
// instruction of each block; the first hit restores the original. Callers arm traps only while the
// JVM is at a safepoint, so threads other than the walking one seldom hit a trap. A hit by another
// thread restores the instruction and is not counted; the next Arm sets the trap again.
// Further traps are where the JVM begins to report its own death. A hit there removes all traps,
// because the JVM's error log walks stacks with the same code, and by then the JVM's handlers own
// SIGTRAP. Signal-safe: OnTrap yes; the rest no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_
#define WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_

#include <ucontext.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "harness/base/result.h"
#include "harness/coverage/block_map.h"

namespace walkhammer {

class TrapCoverage {
 public:
  // Where hits of the walking thread are recorded, as bytes that become 1. The memory must live as
  // long as the TrapCoverage.
  struct Sinks {
    uint8_t* run;       // the fuzz engine clears it before each input; may be null
    uint32_t run_size;  // bytes of `run`, not 0 if there is one; block i has run[i % run_size]
    uint8_t* covered;   // one byte per block, in map order; never cleared; the parent reads it
  };

  // Makes the code of `map` writable (private pages); arms nothing. `bias`: address in memory minus
  // ELF virtual address. Also removes SIGTRAP from the masks of all installed signal handlers,
  // because a trap that is hit while SIGTRAP is blocked ends the process. So call this after the
  // JVM and the guard have installed their handlers. No thread may block SIGTRAP. Fails with
  // kUnable if the kernel forbids writing, or if memory differs from the file in the first CodeUnit
  // of a block. The result must live as long as the process: the signal of a hit trap may be
  // pending.
  static Result<std::unique_ptr<TrapCoverage>> Prepare(const BlockMap& map, uint64_t bias,
                                                       const Sinks& sinks);

  // Sets traps at all blocks that the walking thread has not hit since the last Forget.
  void Arm();
  // Restores all instructions.
  void Disarm();
  // Makes the next Arm set traps at hit blocks, too. Merging needs this, because each input must
  // show its own blocks.
  void Forget();

  // Handles a SIGTRAP that an instruction raised. `context`: the handler's. `walking`: the thread
  // is inside of a guarded call. If the pc is that of one of our traps, even one that was removed
  // since, restores the instruction, sets the pc to it, and returns true. In this case, counts the
  // hit if `walking`. Otherwise returns false. Any number of threads may call OnTrap at the same
  // time.
  bool OnTrap(ucontext_t& context, bool walking);

  size_t covered() const;  // blocks hit so far, by all processes that share Sinks::covered

 private:
  // A place where a trap may be. Prepare writes it; nothing changes it later.
  struct Place {
    uint64_t address;
    uint32_t original;  // the instruction's first CodeUnit
  };

  TrapCoverage() = default;
  bool AddPlace(uint64_t address, uint32_t file_code, std::vector<Place>& places);
  static void Plant(const Place& place);
  static void Restore(const Place& place);
  static int FindPlace(const std::vector<Place>& places, uint64_t address);
  void RestoreAll();

  std::vector<Place> blocks_;                    // by address, in the map's order
  std::vector<Place> deaths_;                    // by address
  std::unique_ptr<std::atomic<uint8_t>[]> hit_;  // by the walking thread, since Forget
  std::atomic<bool> dying_{false};               // the JVM reports its death: no more traps
  Sinks sinks_{};
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_TRAP_COVERAGE_H_
