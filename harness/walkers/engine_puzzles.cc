// Planted bugs for the engines: each lies behind conditions that no engine meets by chance and that
// guidance meets one after the other, since every one met is a new block. Expected, on one worker
// and any JDK: `--engine libfuzzer` and `--engine afl` find the crash in MazeEnd, or ChainEnd,
// within a minute; `--engine random` does not. engines_test.cc holds them to it.
#include <cstdint>

#include "harness/guard/arch.h"
#include "harness/guard/guard.h"
#include "harness/walkers/agct.h"
#include "harness/walkers/puzzles.h"

namespace walkhammer {
namespace {

AgctFunction real = nullptr;
volatile uint64_t nowhere = 0x10;  // volatile: the compiler must not see through the crash
volatile int steps = 0;            // a write of its own keeps each condition a block of its own

constexpr uint64_t kNear = 4096;  // bytes of the walked stack that the chain may run through

__attribute__((noinline)) void MazeEnd() { *reinterpret_cast<volatile int*>(nowhere) = 3; }
__attribute__((noinline)) void ChainEnd() { *reinterpret_cast<volatile int*>(nowhere) = 4; }

}  // namespace

// Low bits only: they survive address randomisation.
extern "C" __attribute__((noinline)) void WalkhammerMaze(const Registers& r, jint depth,
                                                         uint64_t anchor_sp) {
  steps = 0;
  if (depth % 16 != 7) return;
  steps = 1;
  if (r.pc % 16 != 11) return;
  steps = 2;
  if (r.sp % 16 != 13) return;
  steps = 3;
  if (r.fp % 16 != 5) return;
  steps = 4;
  if (anchor_sp % 16 != 3) return;
  steps = 5;
  MazeEnd();
}

// Links that lead up the stack in growing steps: 16, then 24 bytes.
extern "C" __attribute__((noinline)) void WalkhammerChain(uint64_t fp, uint64_t low) {
  steps = 0;
  const auto next = [&](uint64_t step) {
    if (fp < low || fp >= low + kNear || fp % 8 != 0) return false;
    const uint64_t link = *reinterpret_cast<const uint64_t*>(fp);
    if (link - fp != step) return false;
    fp = link;
    return true;
  };
  if (!next(16)) return;
  steps = 1;
  if (!next(24)) return;
  steps = 2;
  ChainEnd();
}

namespace {

void WalkMaze(AgctTrace* trace, jint depth, void* context) {
  real(trace, depth, context);
  const GuardSlot* slot = CurrentGuardSlot();
  const uint64_t anchor_sp = slot == nullptr || slot->anchor == nullptr ? 0 : *slot->anchor;
  WalkhammerMaze(ReadContext(*static_cast<ucontext_t*>(context)), depth, anchor_sp);
}

void WalkChain(AgctTrace* trace, jint depth, void* context) {
  real(trace, depth, context);
  const GuardSlot* slot = CurrentGuardSlot();
  if (slot == nullptr || slot->walked_stack == 0) return;
  WalkhammerChain(ReadContext(*static_cast<ucontext_t*>(context)).fp, slot->walked_stack);
}

template <AgctFunction function>
std::unique_ptr<Walker> Make() {
  return MakeAgctWalker(function, &real);
}

}  // namespace

std::vector<WalkerInfo> EnginePuzzles() {
  return {
      {"puzzle-maze", "crashes where depth, pc, sp, fp and anchor meet five conditions",
       "AsyncGetCallTrace", true, AgctCodes(), Make<WalkMaze>, "WalkhammerMaze"},
      {"puzzle-chain", "crashes where two links on the stack lead up in growing steps",
       "AsyncGetCallTrace", true, AgctCodes(), Make<WalkChain>, "WalkhammerChain"},
  };
}

}  // namespace walkhammer
