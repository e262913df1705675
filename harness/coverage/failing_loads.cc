// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/failing_loads.h"

#include <link.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "harness/guard/arch.h"
#include "harness/guard/code_patch.h"

namespace walkhammer {
namespace {

constexpr size_t kMostModules = 256;
constexpr uint64_t kRedZone = 128;            // bytes below sp that belong to a function, too
constexpr uint64_t kThreadDescriptor = 4096;  // bytes from the thread pointer on, more than enough
constexpr uint64_t kLongestInstruction = 15;
constexpr uint64_t kUnmapped = 0x100;  // nothing is mapped there: vm.mmap_min_addr
constexpr uint64_t kMostSteps = 100'000'000;
// The watchdog takes steps for progress: a stepped walk takes a thousand times as long.
constexpr uint64_t kStepsPerSign = 1024;
constexpr int kMostTraces = 4;

// What belongs to a module by its file's name.
bool StartsWithAny(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return name.starts_with(prefix); });
}

constexpr std::string_view kLinkers[] = {"ld-linux", "ld-musl", "ld-2"};
constexpr std::string_view kRuntimes[] = {"libc.so",    "libc-",      "libm.so", "libm-",
                                          "libpthread", "libdl",      "librt",   "libgcc_s",
                                          "libstdc++",  "linux-vdso", "[vdso]"};

// The watchdog would take a walk by single steps for a hang.
void ShowProgress() {
  if (GuardSlot* slot = CurrentGuardSlot(); slot != nullptr)
    slot->calls.store(slot->calls.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

int AddThreadLocal(dl_phdr_info* info, size_t, void* data) {
  auto& ranges = *static_cast<std::vector<GuardOptions::Range>*>(data);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const auto begin = reinterpret_cast<uint64_t>(info->dlpi_tls_data);
    if (info->dlpi_phdr[i].p_type == PT_TLS && begin != 0)
      ranges.push_back({begin, begin + info->dlpi_phdr[i].p_memsz});
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<FailingLoads>> FailingLoads::Prepare(
    std::span<const GuardOptions::Range> safefetch) {
  if (!kHasTrapFlag)
    return Unable(
        "this machine cannot step through a walk (aarch64 has no trap flag), so no read of it can "
        "be made to fail: use x86_64");
  ASSIGN_OR_RETURN(auto disassembler, Disassembler::For(kElfMachine));
  std::unique_ptr<FailingLoads> loads(new FailingLoads(std::move(disassembler)));
  loads->safefetch_.assign(safefetch.begin(), safefetch.end());
  loads->loads_.reserve(kMostLoads);
  loads->readers_.reserve(kMostReaders);
  RETURN_IF_ERROR(UnblockTraps());
  return loads;
}

FailingLoads::Seen* FailingLoads::Find(uint64_t pc) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  size_t at = (pc * kSpread) >> 47;  // kMostSeen places
  for (;; at = (at + 1) % kMostSeen)
    if (seen_[at].pc == pc || seen_[at].pc == 0) return &seen_[at];
}

// Modules and threads may have come since the last trace.
void FailingLoads::LookAround(const void* context, size_t size) {
  std::vector<Module> modules(kMostModules);
  modules.resize(ListModules(modules));
  code_.clear();
  lasts_.clear();
  for (size_t i = 0; i < modules.size(); i++) {
    std::string_view name = modules[i].path;
    name = name.substr(name.rfind('/') + 1);
    const Owner owner = i == 0                                           ? Owner::kProgram
                        : StartsWithAny(name, kLinkers)                  ? Owner::kLinker
                        : name.empty() || StartsWithAny(name, kRuntimes) ? Owner::kRuntime
                                                                         : Owner::kWalker;
    code_.push_back({modules[i].start, modules[i].end, owner});
    lasts_.push_back({modules[i].start, modules[i].end});
  }
  dl_iterate_phdr(AddThreadLocal, &lasts_);
  lasts_.push_back({ThreadPointer(), ThreadPointer() + kThreadDescriptor});
  const auto given = reinterpret_cast<uint64_t>(context);
  lasts_.push_back({given, given + size});
  const auto by_begin = [](const auto& a, const auto& b) { return a.begin < b.begin; };
  std::sort(code_.begin(), code_.end(), by_begin);
  std::sort(lasts_.begin(), lasts_.end(), by_begin);
  last_ = nullptr;
}

FailingLoads::Owner FailingLoads::OwnerOf(uint64_t pc) {
  if (last_ != nullptr && pc >= last_->begin && pc < last_->end) return last_->owner;
  auto next = std::upper_bound(code_.begin(), code_.end(), pc,
                               [](uint64_t a, const Extent& e) { return a < e.begin; });
  if (next == code_.begin() || pc >= (--next)->end) return Owner::kRuntime;  // generated code
  last_ = &*next;
  return next->owner;
}

uint64_t FailingLoads::AddressOf(const Reader& reader, const ucontext_t& context) {
  auto address = static_cast<uint64_t>(reader.offset);
  if (reader.base >= 0) address += RegisterAt(context, reader.base);
  if (reader.index >= 0)
    address += RegisterAt(context, reader.index) * static_cast<uint64_t>(reader.scale);
  return address;
}

bool FailingLoads::MayBeGone(uint64_t address, uint64_t sp) const {
  const GuardSlot* slot = CurrentGuardSlot();
  if (slot != nullptr && address >= sp - kRedZone && address < slot->stack_end) return false;
  // Ranges of thread-local memory may lie in one another; there are few.
  for (const auto& range : lasts_) {
    if (range.begin > address) return true;
    if (address < range.end) return false;
  }
  return true;
}

void FailingLoads::Stepped(FunctionRef<void()> body) {
  if (tracing_ == 0) return body();
  steps_ = 0;
  inside_ = false;
  StepFromHere(true);
  body();
  const uint64_t until = steps_;
  // Without the trap flag, nothing counts this: a handler was left by a jump.
  if (steps_ == until) cut_ = true;
  StepFromHere(false);
  ended_ = true;
}

bool FailingLoads::OnStep(ucontext_t& context) {
  if (over_ != 0) {
    over_ = 0;
    SetSingleStep(context, false);
    if (armed_ != 0) WriteCode(target_.load(), kTrapCode);
    return true;
  }
  if (failing_ != 0) {  // the instruction did not fault: it only hints at the memory
    LetGo(context);
    return true;
  }
  if (tracing_ == 0) return false;
  const uint64_t count = steps_ + 1;
  steps_ = count;
  if (count % kStepsPerSign == 0) ShowProgress();
  if (AtCallThatEndsSteps(context) || count > kMostSteps) {
    cut_ = true;
    SetSingleStep(context, false);
    return true;
  }
  const Registers at = ReadContext(context);
  const Owner owner = OwnerOf(at.pc);
  if (owner == Owner::kProgram) inside_ = false;
  if (owner == Owner::kWalker) inside_ = true;
  if (owner == Owner::kProgram || owner == Owner::kLinker) return true;
  Seen* seen = Find(at.pc);
  if (seen->pc == 0) {
    if (seen_count_ < kMostSeen / 2) {
      *seen = {at.pc, kUndecoded};
      seen_count_++;
      new_ = true;
    } else {
      cut_ = true;
    }
    return true;
  }
  if (seen->reader < 0) return true;
  Reader& reader = readers_[static_cast<size_t>(seen->reader)];
  reader.passes++;
  if (!inside_ || !MayBeGone(AddressOf(reader, context), at.sp)) return true;
  if (loads_.size() < kMostLoads)
    loads_.push_back({static_cast<uint32_t>(seen->reader), reader.passes});  // never reallocates
  else
    cut_ = true;
  return true;
}

FailingLoads::Reader FailingLoads::ReaderAt(uint64_t pc, bool& reads) const {
  Reader reader{pc, 0, -1, -1, 1, ReadCode(pc), 0};
  reads = false;
  for (const auto& range : safefetch_)
    if (pc >= range.begin && pc < range.end) return reader;
  const auto* code = reinterpret_cast<const uint8_t*>(pc);
  for (const MemoryOperand& operand :
       disassembler_.MemoryOperands({code, kLongestInstruction}, pc)) {
    const int base = NumberOfRegister(operand.base), index = NumberOfRegister(operand.index);
    // Without a register, it is a variable of the module. What is written, too, is the walker's
    // own.
    if (!operand.reads || operand.writes || (base < 0 && index < 0)) continue;
    reader.base = static_cast<int8_t>(base);
    reader.index = static_cast<int8_t>(index);
    reader.scale = static_cast<int8_t>(operand.scale);
    reader.offset = operand.offset;
    reads = true;
    break;
  }
  return reader;
}

void FailingLoads::Decode() {
  for (Seen& seen : seen_) {
    if (seen.pc == 0 || seen.reader != kUndecoded) continue;
    bool reads = false;
    const Reader reader = ReaderAt(seen.pc, reads);
    if (reads && readers_.size() == kMostReaders) {
      cut_ = true;
      return;
    }
    seen.reader = reads ? static_cast<int32_t>(readers_.size()) : kReadsNothing;
    if (reads) readers_.push_back(reader);
  }
}

Status FailingLoads::Trace(const void* context, size_t size, FunctionRef<void()> walk) {
  const size_t known = readers_.size();
  LookAround(context, size);
  for (int i = 0; i < kMostTraces; i++) {
    for (Reader& reader : readers_) reader.passes = 0;
    loads_.clear();
    new_ = cut_ = ended_ = false;
    tracing_ = 1;
    walk();
    tracing_ = 0;
    cut_ |= !ended_;
    if (!new_) break;
    Decode();
  }
  complete_ = !cut_ && !new_;
  if (readers_.size() == known) return Ok();
  std::vector<uint64_t> places;
  for (const Reader& reader : readers_) places.push_back(reader.pc);
  std::sort(places.begin(), places.end());
  return MakeCodeWritable(places, "no read can be made to fail");
}

void FailingLoads::Arm(uint32_t number) {
  load_ = number - 1;
  passes_ = 0;
  failed_at_ = 0;
  const uint64_t pc = readers_[loads_[load_].reader].pc;
  target_.store(pc);
  armed_ = 1;
  WriteCode(pc, kTrapCode);
}

void FailingLoads::Disarm() {
  armed_ = 0;
  over_ = 0;
  failing_ = 0;
  const Reader& reader = readers_[loads_[load_].reader];
  WriteCode(reader.pc, reader.original);
}

// A trap of ours, though it may be gone by now: the instruction is run again, whichever load is to
// fail now. A hit of another thread, or of a handler that interrupts the walk at another hit, gives
// the trap up.
bool FailingLoads::OnTrap(ucontext_t& context, bool walking) {
  Registers registers = ReadContext(context);
  registers.pc -= kTrapPcAhead;
  const Seen* seen = Find(registers.pc);
  if (seen->pc == 0 || seen->reader < 0) return false;
  WriteContext(registers, context);
  WriteCode(registers.pc, readers_[static_cast<size_t>(seen->reader)].original);
  if (armed_ == 0 || registers.pc != target_.load() || !walking || over_ != 0 || failing_ != 0)
    return true;
  if (++passes_ % (kStepsPerSign / 4) == 0) ShowProgress();
  SetSingleStep(context, true);
  if (passes_ < loads_[load_].pass) {
    over_ = 1;
    return true;
  }
  armed_ = 0;
  Poison(context);
  return true;
}

void FailingLoads::Poison(ucontext_t& context) {
  const Reader& reader = readers_[loads_[load_].reader];
  address_ = AddressOf(reader, context);
  poisoned_ = reader.base >= 0 ? reader.base : reader.index;
  kept_ = RegisterAt(context, poisoned_);
  // The rest of the address stays what it is. Without a base, the index is scaled.
  poison_ = reader.base >= 0 ? kept_ - address_ + kUnmapped
                             : (kUnmapped - static_cast<uint64_t>(reader.offset)) /
                                   static_cast<uint64_t>(reader.scale);
  SetRegisterAt(context, poisoned_, poison_);
  failing_ = 1;
}

void FailingLoads::LetGo(ucontext_t& context) {
  failing_ = 0;
  SetSingleStep(context, false);
  if (RegisterAt(context, poisoned_) == poison_) SetRegisterAt(context, poisoned_, kept_);
}

// What handles the fault sees that of a read whose page is gone.
void FailingLoads::OnFault(siginfo_t& info, ucontext_t& context) {
  if (failing_ == 0 || ReadContext(context).pc != target_.load()) return;
  LetGo(context);
  info.si_addr = reinterpret_cast<void*>(address_);
  failed_at_ = target_.load();
}

}  // namespace walkhammer
