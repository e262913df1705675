// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/signal_contexts.h"

#include <elf.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <optional>

namespace walkhammer {
namespace {

constexpr uint64_t kMostScanned = 1 << 20;  // bytes of one stack, from sp on
constexpr int kMostStacks = 4;
constexpr size_t kMostContexts = 16;

// Layouts of the kernel's frames: arch/x86/include/asm/sigframe.h, uapi/asm/sigcontext.h;
// arch/arm64/kernel/signal.c. Offsets in bytes from the frame's begin.
constexpr uint64_t kContextX86 = 8;  // after pretcode
constexpr uint64_t kGregsX86 = kContextX86 + 40;
constexpr uint64_t kInfoX86 = kContextX86 + 304;
constexpr uint64_t kCodeSegment = 0x33;  // of 64-bit programs
constexpr const char* kNamesX86[] = {"r8",  "r9",  "r10", "r11", "r12", "r13",
                                     "r14", "r15", "rdi", "rsi", "rbp", "rbx",
                                     "rdx", "rax", "rcx", "rsp", "rip", "eflags"};
constexpr uint64_t kContextArm = 128;                      // after siginfo
constexpr uint64_t kRegistersArm = kContextArm + 168 + 8;  // after fault_address

uint64_t WordAt(const CoreFile& core, uint64_t address) {
  uint64_t word = 0;
  core.ReadWord(address, word);
  return word;
}

void ReadInfo(const CoreFile& core, uint64_t info, SignalContext& context) {
  context.signal = static_cast<int>(WordAt(core, info) & 0xffffffff);
  context.code = static_cast<int>(WordAt(core, info + 8) & 0xffffffff);
  context.address = WordAt(core, info + 16);
}

bool IsPlausible(const CoreFile& core, const SignalContext& context) {
  constexpr int kHighestSignal = 64;
  return context.signal >= 1 && context.signal <= kHighestSignal && context.code > -100 &&
         context.code <= 128 && core.AreaOf(context.frame) != nullptr;
}

std::optional<SignalContext> ContextX86(const CoreFile& core, uint64_t frame) {
  // pretcode leads into code; uc_link is null; the code segment is that of 64-bit programs.
  const CoreArea* code = core.AreaOf(WordAt(core, frame));
  if (code == nullptr || !code->executable || WordAt(core, frame + kContextX86 + 8) != 0) return {};
  const uint64_t segments = WordAt(core, frame + kGregsX86 + 8 * std::size(kNamesX86));
  if ((segments & 0xffff) != kCodeSegment) return {};
  SignalContext context;
  context.frame = frame;
  for (size_t i = 0; i < std::size(kNamesX86); i++)
    context.registers.push_back({kNamesX86[i], WordAt(core, frame + kGregsX86 + 8 * i), 0});
  context.fp = context.registers[10].value;
  context.sp = context.registers[15].value;
  context.pc = context.registers[16].value;
  ReadInfo(core, frame + kInfoX86, context);
  return IsPlausible(core, context) ? std::optional(context) : std::nullopt;
}

std::optional<SignalContext> ContextArm(const CoreFile& core, uint64_t frame) {
  // The siginfo comes first; uc_flags and uc_link are null.
  if (WordAt(core, frame + kContextArm) != 0 || WordAt(core, frame + kContextArm + 8) != 0)
    return {};
  SignalContext context;
  context.frame = frame;
  for (uint64_t i = 0; i < 31; i++)
    context.registers.push_back(
        {"x" + std::to_string(i), WordAt(core, frame + kRegistersArm + 8 * i), 0});
  context.fp = context.registers[29].value;
  context.sp = WordAt(core, frame + kRegistersArm + 8 * 31);
  context.pc = WordAt(core, frame + kRegistersArm + 8 * 32);
  context.registers.push_back({"sp", context.sp, 0});
  context.registers.push_back({"pc", context.pc, 0});
  ReadInfo(core, frame, context);
  const uint64_t state = WordAt(core, frame + kRegistersArm + 8 * 33);
  const bool in_user_mode = (state & 0xf) == 0 && state >> 32 == 0;
  return in_user_mode && IsPlausible(core, context) ? std::optional(context) : std::nullopt;
}

// Adds the contexts in [from, end of that stack).
void Scan(const CoreFile& core, uint64_t from, std::vector<SignalContext>& found) {
  const CoreArea* area = core.AreaOf(from);
  if (area == nullptr) return;
  const uint64_t end = std::min(area->end, from + kMostScanned);
  for (uint64_t at = from & ~7ULL; at < end && found.size() < kMostContexts; at += 8) {
    const auto context = core.machine() == EM_AARCH64 ? ContextArm(core, at) : ContextX86(core, at);
    if (!context) continue;
    found.push_back(*context);
    // What lies below the interrupted sp is the handler's; older frames lie above.
    if (context->sp > at && context->sp < end) at = (context->sp & ~7ULL) - 8;
  }
}

}  // namespace

bool SignalContext::is_fatal() const {
  constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
  return std::find(std::begin(kFatal), std::end(kFatal), signal) != std::end(kFatal);
}

std::vector<SignalContext> SignalContextsOf(const CoreFile& core, const CoreThread& thread) {
  std::vector<SignalContext> found;
  uint64_t from = thread.sp;
  for (int i = 0; i < kMostStacks; i++) {
    const size_t before = found.size();
    Scan(core, from, found);
    if (found.size() == before) break;
    // The handler ran on a signal stack: go on where it was interrupted.
    const SignalContext& last = found.back();
    const CoreArea* here = core.AreaOf(last.frame);
    if (here == nullptr || (last.sp >= here->begin && last.sp < here->end)) break;
    from = last.sp;
  }
  return found;
}

}  // namespace walkhammer
