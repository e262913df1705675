// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/core_import.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "harness/crash/core/core_file.h"
#include "harness/crash/core/core_jvm.h"
#include "harness/crash/core/signal_contexts.h"
#include "harness/elf/symbolizer.h"
#include "harness/findings/sample_request.h"
#include "harness/process/signal_name.h"
#include "harness/request/scene_table.h"
#include "harness/request/text_form.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr size_t kMostWords = 4096;  // of the walked stack
constexpr size_t kMostCalls = 64;

// The fault that ended the process, and the signal whose handler it came in.
struct CrashContexts {
  const SignalContext* fault = nullptr;
  const SignalContext* walked = nullptr;  // null: the fault did not come in a signal handler
};

// The outermost fault: others came while the JVM wrote its log.
CrashContexts Choose(const std::vector<SignalContext>& all) {
  CrashContexts chosen;
  for (size_t i = 0; i < all.size(); i++)
    if (all[i].is_fatal()) {
      chosen.fault = &all[i];
      chosen.walked = i + 1 < all.size() && !all[i + 1].is_fatal() ? &all[i + 1] : nullptr;
    }
  return chosen;
}

CrashFrame FrameOf(const Site& site, uint64_t pc) {
  CrashFrame frame;
  frame.kind = site.module.starts_with("libjvm") ? CrashFrameKind::kVm : CrashFrameKind::kNative;
  frame.module = site.module;
  frame.module_offset = site.module_offset;
  frame.symbol = site.function;
  if (!site.function.empty()) frame.symbol_offset = site.offset;
  frame.pc = pc;
  frame.text = SiteText(site);
  return frame;
}

// Java code that made the calls; which method's it is, no frame record tells.
CrashFrame GeneratedFrame(uint64_t pc) {
  CrashFrame frame;
  frame.kind = CrashFrameKind::kStub;
  frame.pc = pc;
  frame.text = "generated code";
  return frame;
}

// The calls that led to the fault, by frame records, up to `end` or to generated code.
std::vector<CrashFrame> CallsOf(const CoreFile& core, const CoreJvm& jvm,
                                const Symbolizer& symbolizer, const SignalContext& fault,
                                uint64_t end) {
  std::vector<CrashFrame> calls = {jvm.IsGeneratedCode(fault.pc)
                                       ? GeneratedFrame(fault.pc)
                                       : FrameOf(symbolizer.Resolve(fault.pc), fault.pc)};
  uint64_t fp = fault.fp, low = fault.sp;
  while (calls.size() < kMostCalls && fp >= low && fp < end) {
    uint64_t next = 0, return_address = 0;
    if (!core.ReadWord(fp, next) || !core.ReadWord(fp + 8, return_address)) break;
    const Site site = symbolizer.ResolveCaller(return_address);
    if (jvm.IsGeneratedCode(return_address)) calls.push_back(GeneratedFrame(return_address));
    if (!site.in_module()) break;
    calls.push_back(FrameOf(site, return_address));
    low = fp + 16;
    fp = next;
  }
  return calls;
}

CrashReport ReportOf(const CoreFile& core, const CoreJvm& jvm, const StressState& state,
                     const CrashContexts& contexts) {
  CrashReport report;
  report.text_kind = CrashText::kStack;
  report.arch = core.machine() == EM_AARCH64 ? CrashArch::kAarch64 : CrashArch::kX86_64;
  report.os = CrashOs::kLinux;
  report.version.jdk = {jvm.Version(), 1};
  report.version.feature = {jvm.feature(), 1};
  const SignalContext& fault = *contexts.fault;
  report.error = CrashError::kSignal;
  report.signal.name = {SignalName(fault.signal), 1};
  report.signal.number = {fault.signal, 1};
  report.signal.code_number = {fault.code, 1};
  report.signal.address = {fault.address, 1};
  report.registers = fault.registers;
  const Symbolizer symbolizer(std::span<const Module>(state.modules, state.module_count.load()));
  const uint64_t end = contexts.walked != nullptr ? contexts.walked->frame : UINT64_MAX;
  report.native_stack.frames = CallsOf(core, jvm, symbolizer, fault, end);
  if (contexts.walked != nullptr) {
    CrashFrame handler;
    handler.kind = CrashFrameKind::kSignalHandler;
    handler.text = "<signal handler called>";
    report.native_stack.signal_frames.push_back(report.native_stack.frames.size());
    report.native_stack.frames.push_back(handler);
  }
  return report;
}

std::vector<uint64_t> WordsFrom(const CoreFile& core, uint64_t sp, uint64_t end) {
  std::vector<uint64_t> words;
  uint64_t word = 0;
  for (uint64_t at = sp & ~7ULL; words.size() < kMostWords && at < end; at += 8) {
    if (!core.ReadWord(at, word)) break;
    words.push_back(word);
  }
  return words;
}

// The walked context as the walker was shown it.
Sample SampleOf(const SignalContext& walked, const CoreJavaThread& thread, uint8_t walker) {
  Sample sample{};
  sample.walker = walker;
  sample.state = thread.address == 0 ? kStateInJava : thread.state;
  sample.java = thread.address != 0 ? 1 : 0;
  sample.registers = {walked.pc, walked.sp, walked.fp, 0};
  for (const CrashRegister& value : walked.registers)
    if (value.name == "x30") sample.registers.lr = value.value;
  sample.anchor_sp = thread.anchor_sp;
  sample.anchor_pc = thread.anchor_pc;
  sample.anchor_fp = thread.anchor_fp;
  sample.thread = thread.address;
  sample.stack_limit = thread.stack_limit;
  sample.stack_base = thread.stack_base;
  return sample;
}

bool IsOnStack(const Sample& sample, uint64_t address) {
  return address >= sample.stack_limit && address < sample.stack_base;
}

// Which address becomes stack+kSampledSp: sp, or what else lies on the thread's stack. 0: none
// does, or it lies so near to the end of the stack that only its distance from there counts.
uint64_t OriginOf(const Sample& sample) {
  constexpr uint64_t kNearTheEnd = 0x1000;
  for (const uint64_t at : {sample.registers.sp, sample.anchor_sp, sample.registers.fp})
    if (IsOnStack(sample, at)) return sample.stack_base - at < kNearTheEnd ? 0 : at & ~uint64_t{7};
  return 0;
}

// The lowest address that the walk may begin at: what a register shows below sp, the handler wrote.
uint64_t LowestOf(const Sample& sample, uint64_t origin) {
  constexpr uint64_t kBelowFp = 0x100;  // bytes of an interpreted frame below its fp
  constexpr uint64_t kRoomBelow = kSampledSp - kSampledFree;
  uint64_t lowest = origin;
  for (const uint64_t at : {sample.registers.fp, sample.anchor_fp, sample.anchor_sp})
    if (IsOnStack(sample, at) && at < origin + kBelowFp && at + kRoomBelow > origin + kBelowFp)
      lowest = std::min(lowest, (at - kBelowFp) & ~uint64_t{7});
  return lowest;
}

CrashCandidate ExactCandidate(const WalkRequest& request, const SymbolTable& symbols,
                              const CrashTarget& target, const CoreFile& core) {
  CrashCandidate candidate;
  candidate.what = "the walked context, as the core has it";
  candidate.rank = 100;
  for (const char* field : {"pc", "sp", "fp", "state", "anchor"})
    candidate.fields.push_back({field, Confidence::kExact, "from the core"});
  candidate.fields.push_back(
      {"stack", Confidence::kExact, fmt::format("{} words from the core", request.edit_count)});
  const char* arch = core.machine() == EM_AARCH64 ? "aarch64" : "x86_64";
  candidate.text = "# " + candidate.what + "\n" + ToText({request, target.expect, arch}, symbols);
  return candidate;
}

uint8_t WalkerOf(const ImportedCrash& crash) {
  const WalkerPattern* pattern = crash.guilt.pattern;
  if (pattern == nullptr || pattern->walker[0] == 0) return 0;
  return static_cast<uint8_t>(FindWalker(pattern->walker).value_or(0));
}

}  // namespace

Result<ImportedCrash> ImportCore(const std::string& path, const std::string& modules,
                                 const Corpora& corpora) {
  std::vector<std::string> folders;
  if (!modules.empty()) folders.push_back(modules);
  ASSIGN_OR_RETURN(const auto core, CoreFile::Open(path, folders));
  ASSIGN_OR_RETURN(const auto jvm, CoreJvm::Open(*core));
  const std::vector<SignalContext> all = SignalContextsOf(*core, core->threads().front());
  const CrashContexts contexts = Choose(all);
  if (contexts.fault == nullptr)
    return Unable(path + " shows no signal on the stack of the thread that crashed");
  // The signal frame lies on the stack of the thread that was walked.
  const uint64_t on_stack =
      contexts.walked != nullptr ? contexts.walked->frame : contexts.fault->sp;
  const CoreJavaThread thread = jvm->ThreadOf(on_stack);
  const SignalContext& shown = contexts.walked != nullptr ? *contexts.walked : *contexts.fault;
  Sample sample = SampleOf(shown, thread, 0);
  const uint64_t origin = OriginOf(sample);
  const uint64_t lowest = LowestOf(sample, origin);
  std::vector<uint64_t> words;
  if (origin != 0) words = WordsFrom(*core, lowest, thread.stack_base);
  std::vector<uint64_t> named = words;
  named.insert(named.end(), {sample.registers.pc, sample.registers.fp, sample.anchor_pc});
  auto state = std::make_unique<StressState>();
  state->job.depth = 128;
  jvm->Describe(named, *state);
  ImportedCrash crash = Judge(ReportOf(*core, *jvm, *state, contexts), path, corpora);
  if (crash.guilt.guilt == Guilt::kNone || contexts.walked == nullptr) return crash;
  auto symbols = NewSymbolTable();
  sample.walker = WalkerOf(crash);
  const WalkRequest request = RequestOfWords(sample, {words, lowest}, origin, *state, *symbols);
  crash.candidates.insert(crash.candidates.begin(),
                          ExactCandidate(request, *symbols, crash.target, *core));
  return crash;
}

}  // namespace walkhammer
