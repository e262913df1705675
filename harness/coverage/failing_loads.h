// SPDX-License-Identifier: Apache-2.0
// FailingLoads: makes one memory read of a walk fail as if its page were gone. First the walk is
// traced: it runs undisturbed, by single steps, and the reads of the walker are written down in
// order. Then a walk can be repeated in which one of them fails. A trap at its instruction counts
// how often the instruction is run; the time that counts, the register that the address comes from
// leads to an unmapped page. So the very instruction faults. The handler of the fault, the walker's
// own or the guard, sees the registers and the address that the read had.
//
// Which reads count: those of the walker's module and of what it calls (the C library, generated
// code), but not those of our own program, of the dynamic linker and of SafeFetch, which may fault.
// Reads of memory that cannot be gone do not count: of the walker's own frames, of the variables
// and constants of modules, of thread-local memory and of the ucontext that it was given. So what
// is left are the heap, the metaspace, the code cache, the walked stack and what malloc gave.
//
// One process has at most one; only one thread walks at a time. x86_64 alone, as single steps need
// the trap flag. Signal-safe: OnStep, OnTrap, OnFault and Stepped yes; the rest no.
#ifndef WALKHAMMER_HARNESS_COVERAGE_FAILING_LOADS_H_
#define WALKHAMMER_HARNESS_COVERAGE_FAILING_LOADS_H_

#include <signal.h>
#include <ucontext.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "harness/base/function_ref.h"
#include "harness/base/result.h"
#include "harness/elf/disassembler.h"
#include "harness/elf/modules.h"
#include "harness/guard/guard.h"

namespace walkhammer {

class FailingLoads {
 public:
  // More reads of a walk are not distinguished, see complete().
  static constexpr uint32_t kMostLoads = 1 << 20;

  // `safefetch`: instructions whose reads do not count, see GuardOptions.
  // The guard must be installed, with hooks that call OnStep, OnTrap and OnFault. Fails with
  // kUnable on a machine without single steps. The result must live as long as the process.
  static Result<std::unique_ptr<FailingLoads>> Prepare(
      std::span<const GuardOptions::Range> safefetch);

  // Calls `walk`, which must call Stepped around the walker's call, on the calling thread, in a
  // guarded call, and counts its reads. It may call `walk` several times: until there is no
  // instruction in it that is not decoded yet. [context, context + size): what the walker is given.
  // Fails with kUnable if the kernel lets no code be changed.
  Status Trace(const void* context, size_t size, FunctionRef<void()> walk);
  uint32_t count() const { return static_cast<uint32_t>(loads_.size()); }  // of the last Trace
  // False if the last Trace did not see the walk to its end: there are too many reads, a fault of
  // the walker ended it, or a system call that cannot be stepped over. Its first count() reads are
  // known.
  bool complete() const { return complete_; }

  // From Arm to Disarm, the read `number` (1 to count()) fails in the next walk.
  void Arm(uint32_t number);
  void Disarm();
  // After Disarm: the instruction whose read failed; 0: it was never reached.
  uint64_t failed_at() const { return failed_at_; }

  // Calls `body` by single steps if a Trace is under way, else just so.
  void Stepped(FunctionRef<void()> body);

  // See GuardOptions::on_step, on_trap and on_fault.
  bool OnStep(ucontext_t& context);
  bool OnTrap(ucontext_t& context, bool walking);
  void OnFault(siginfo_t& info, ucontext_t& context);

 private:
  enum class Owner : uint8_t { kProgram, kLinker, kRuntime, kWalker };
  struct Extent {
    uint64_t begin, end;
    Owner owner;
  };
  // An instruction that reads memory: at base + index * scale + offset.
  struct Reader {
    uint64_t pc;
    int64_t offset;
    int8_t base, index, scale;  // -1: no register
    CodeUnit original;          // what a trap replaces
    uint32_t passes;            // in the current trace
  };
  // What is known of an instruction.
  struct Seen {
    uint64_t pc;  // 0: a free place
    int32_t reader;
  };
  static constexpr int32_t kUndecoded = -1, kReadsNothing = -2;
  static constexpr size_t kMostSeen = 1 << 17;  // a power of two
  static constexpr size_t kMostReaders = 1 << 15;
  struct Load {
    uint32_t reader, pass;  // the pass-th run of the instruction, from 1
  };

  FailingLoads(Disassembler disassembler) : disassembler_(std::move(disassembler)) {}
  Seen* Find(uint64_t pc);
  void LookAround(const void* context, size_t size);
  void Decode();
  Reader ReaderAt(uint64_t pc, bool& reads) const;
  Owner OwnerOf(uint64_t pc);
  bool MayBeGone(uint64_t address, uint64_t sp) const;
  static uint64_t AddressOf(const Reader& reader, const ucontext_t& context);
  void Poison(ucontext_t& context);
  void LetGo(ucontext_t& context);

  Disassembler disassembler_;
  std::vector<GuardOptions::Range> safefetch_;
  std::vector<Extent> code_;                // modules, by address
  std::vector<GuardOptions::Range> lasts_;  // memory that cannot be gone, by address
  std::vector<Reader> readers_;             // never moves: other threads read it in OnTrap
  std::vector<Seen> seen_ = std::vector<Seen>(kMostSeen);
  size_t seen_count_ = 0;
  std::vector<Load> loads_;
  bool complete_ = false;

  // The trace that is under way.
  volatile sig_atomic_t tracing_ = 0;
  bool inside_ = false;  // the walker runs, or what it called
  bool new_ = false;     // an instruction was met that is not decoded yet
  bool cut_ = false;
  bool ended_ = false;  // the walker returned
  volatile uint64_t steps_ = 0;
  const Extent* last_ = nullptr;

  // The read that is to fail.
  volatile sig_atomic_t armed_ = 0;
  std::atomic<uint64_t> target_{0};  // of the last Arm
  uint32_t load_ = 0, passes_ = 0;
  volatile sig_atomic_t over_ = 0;     // the instruction is being stepped over
  volatile sig_atomic_t failing_ = 0;  // the instruction runs, and is to fault
  uint64_t kept_ = 0, poison_ = 0, address_ = 0;
  int poisoned_ = -1;
  uint64_t failed_at_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_COVERAGE_FAILING_LOADS_H_
