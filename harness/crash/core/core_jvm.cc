// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/core/core_jvm.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <unordered_map>

#include "harness/elf/elf_file.h"
#include "harness/request/symbol_table.h"

namespace walkhammer {
namespace {

constexpr int kMostThreads = 65536;
constexpr uint64_t kMethodWords = 12;                     // near the size of a Method
constexpr char kStubList[] = "_ZN12StubCodeDesc5_listE";  // StubCodeDesc::_list

// Addresses of the symbols of a library, by mangled name.
std::unordered_map<std::string, uint64_t> SymbolsOf(const std::string& path, uint64_t bias) {
  std::unordered_map<std::string, uint64_t> symbols;
  const ElfFile file(path, ElfFile::Access::kRead);
  if (file.get() == nullptr) return symbols;
  for (const ElfSection& section : file.Sections()) {
    if (section.header.sh_type != SHT_SYMTAB && section.header.sh_type != SHT_DYNSYM) continue;
    file.EachSymbol(section, [&](const GElf_Sym& symbol, const char* name) {
      const std::string_view text(name);
      const bool is_wanted = text.starts_with("gHotSpot") || text == kStubList ||
                             text == asgst::kContinuationReturnPc || text == asgst::kReturnBarrier;
      if (symbol.st_shndx != SHN_UNDEF && is_wanted) symbols[name] = symbol.st_value + bias;
    });
  }
  return symbols;
}

uint64_t WordAt(const MemoryReader& memory, uint64_t address) {
  uint64_t word = 0;
  memory.ReadWord(address, word);
  return word;
}

}  // namespace

// Appends to the names and the code of a StressState.
class StateWriter {
 public:
  explicit StateWriter(StressState& state) : state_(state) {}

  uint32_t Name(const std::string& name) {
    if (used_ + name.size() + 1 > StressState::kNamesBytes) return 0;
    const uint32_t at = used_;
    std::memcpy(state_.names + at, name.c_str(), name.size() + 1);
    used_ += static_cast<uint32_t>(name.size()) + 1;
    return at;
  }
  bool HasMethod(uint64_t method) const { return methods_.count(method) != 0; }
  void AddMethod(uint64_t method) { methods_.insert(method); }
  void Code(SymbolKind kind, const std::string& name, uint64_t begin, uint64_t end) {
    const uint32_t count = state_.code_count.load();
    if (count == StressState::kMaxCode || end <= begin) return;
    CodeEntry& entry = state_.code[count];
    entry.end = end;
    entry.name = Name(name);
    entry.kind = static_cast<uint8_t>(kind);
    entry.level = -1;
    entry.frame_complete = -1;
    entry.begin.store(begin);
    state_.code_count.store(count + 1);
  }

 private:
  StressState& state_;
  uint32_t used_ = 1;  // 0: the empty name
  std::set<uint64_t> methods_;
};

Result<std::unique_ptr<CoreJvm>> CoreJvm::Open(const CoreFile& core) {
  const CoreMapping* libjvm = nullptr;
  for (const CoreMapping& mapping : core.mappings())
    if (libjvm == nullptr && mapping.path.ends_with("/libjvm.so")) libjvm = &mapping;
  if (libjvm == nullptr) return Unable("no libjvm.so was mapped in the process of this core");
  const std::string path = core.FileOf(*libjvm);
  if (path.empty())
    return Unable(libjvm->path +
                  " is not on this machine: name the folder that holds it by --modules");
  if (!core.IsSameFile(*libjvm))
    return Unable(path +
                  " is another build than the one in this core: name the folder that holds "
                  "that one by --modules");
  const auto symbols = SymbolsOf(path, libjvm->begin - libjvm->file_offset);
  const auto address_of = [&](const std::string& name) -> uint64_t {
    const auto found = symbols.find(name);
    return found == symbols.end() ? 0 : found->second;
  };
  auto structs = VmStructs::Read(address_of, core);
  if (!structs.ok() && core.is_cut_off())
    return BadInput("this core is cut off: what it has does not show how its JVM keeps its data");
  if (!structs.ok()) return structs.failure();
  ASSIGN_OR_RETURN(auto code, CodeCache::Open(structs.value(), core));
  std::unique_ptr<CoreJvm> jvm(new CoreJvm(core, std::move(structs.value()), code));
  jvm->stub_list_ = address_of(kStubList);
  jvm->continuation_return_ = address_of(asgst::kContinuationReturnPc);
  jvm->return_barrier_ = address_of(asgst::kReturnBarrier);
  jvm->ReadVersion();
  RETURN_IF_ERROR(jvm->ReadLayouts());
  return jvm;
}

void CoreJvm::ReadVersion() {
  const void* field = structs_.Static("Abstract_VM_Version", "_s_vm_release");
  if (field == nullptr) field = structs_.Static("VM_Version", "_s_vm_release");
  if (field != nullptr)
    version_ = ReadText(core_, WordAt(core_, reinterpret_cast<uint64_t>(field)));
  feature_ = std::atoi(version_.c_str());
  if (version_.starts_with("25.") && version_.find("-b") != std::string::npos) feature_ = 8;
}

Status CoreJvm::ReadLayouts() {
  ASSIGN_OR_RETURN(layout_, ReadLayout(structs_));
  ASSIGN_OR_RETURN(metadata_, asgst::ReadMetadataLayout(structs_, feature_));
  return Ok();
}

// JDK 10 and later: ThreadsSMRSupport; before: a list.
std::vector<uint64_t> CoreJvm::Threads() const {
  std::vector<uint64_t> threads;
  const void* smr = structs_.Static("ThreadsSMRSupport", "_java_thread_list");
  const auto length = structs_.Offset("ThreadsList", "_length");
  const auto array = structs_.Offset("ThreadsList", "_threads");
  if (smr != nullptr && length && array) {
    const uint64_t list = WordAt(core_, reinterpret_cast<uint64_t>(smr));
    int32_t count = 0;
    core_.Read(list + static_cast<uint64_t>(*length), count);
    const uint64_t first = WordAt(core_, list + static_cast<uint64_t>(*array));
    for (int i = 0; i < std::min(count, kMostThreads); i++)
      threads.push_back(WordAt(core_, first + 8 * static_cast<uint64_t>(i)));
    return threads;
  }
  const void* head = structs_.Static("Threads", "_thread_list");
  const auto next = structs_.Offset("JavaThread", "_next");
  if (head == nullptr || !next) return threads;
  uint64_t thread = WordAt(core_, reinterpret_cast<uint64_t>(head));
  for (int i = 0; i < kMostThreads && thread != 0; i++) {
    threads.push_back(thread);
    thread = WordAt(core_, thread + static_cast<uint64_t>(*next));
  }
  return threads;
}

CoreJavaThread CoreJvm::ReadThread(uint64_t address) const {
  const auto word = [&](int offset) {
    return WordAt(core_, address + static_cast<uint64_t>(offset));
  };
  CoreJavaThread thread;
  thread.address = address;
  thread.stack_base = word(layout_.stack_base);
  thread.stack_limit = thread.stack_base - word(layout_.stack_size);
  int32_t state = 0;
  core_.Read(address + static_cast<uint64_t>(layout_.thread_state), state);
  thread.state = layout_.states.StateOf(state);
  thread.anchor_sp = word(layout_.anchor + layout_.last_sp);
  thread.anchor_pc = word(layout_.anchor + layout_.last_pc);
  thread.anchor_fp = word(layout_.anchor + layout_.last_fp);
  StructReader read(structs_);
  const int os_thread = read.Need("JavaThread", "_osthread", "Thread");
  const int id = read.Need("OSThread", "_thread_id");
  if (read.Complete().ok()) core_.Read(word(os_thread) + static_cast<uint64_t>(id), thread.tid);
  return thread;
}

CoreJavaThread CoreJvm::ThreadOf(uint64_t sp) const {
  for (const CoreJavaThread& thread : JavaThreads())
    if (sp >= thread.stack_limit && sp < thread.stack_base) return thread;
  return {};
}

std::vector<CoreJavaThread> CoreJvm::JavaThreads() const {
  std::vector<CoreJavaThread> threads;
  for (const uint64_t address : Threads()) threads.push_back(ReadThread(address));
  return threads;
}

Result<asgst::WalkLayout> CoreJvm::WalkLayoutOf() const {
  const asgst::CodeRules& rules =
      core_.machine() == EM_AARCH64 ? asgst::kAarch64Rules : asgst::kX86_64Rules;
  ASSIGN_OR_RETURN(auto layout, asgst::ReadWalkLayout(structs_, feature_, core_, rules));
  asgst::FindContinuations(continuation_return_, return_barrier_, core_, layout);
  return layout;
}

std::string CoreJvm::Symbol(uint64_t symbol) const {
  char text[1024];
  const asgst::Metadata metadata(metadata_, core_);
  if (symbol == 0 || metadata.Copy(symbol, text, sizeof text) < 0) return "";
  return text;
}

std::string CoreJvm::MethodName(uint64_t method) const {
  const asgst::Metadata metadata(metadata_, core_);
  asgst::MethodView view;
  if (!metadata.Open(method, view)) return "";
  std::string holder = Symbol(metadata.NameOfClass(view.holder));
  const std::string name = Symbol(metadata.NameOf(view));
  const std::string signature = Symbol(metadata.SignatureOf(view));
  if (holder.empty() || name.empty() || !signature.starts_with('(')) return "";
  std::replace(holder.begin(), holder.end(), '/', '.');
  return holder + "." + name + signature;
}

// All stubs and codelets, since equal names are numbered by address, and all nmethods.
void CoreJvm::DescribeCode(StateWriter& writer, StressState& state) const {
  for (const CodeBlob& blob : code_.Blobs()) {
    if (!blob.is_nmethod) {
      writer.Code(SymbolKind::kStub, blob.name, blob.begin, blob.end);
      continue;
    }
    std::string name = blob.IsZombie(feature_) ? "zombie" : MethodName(blob.method);
    if (name.empty()) continue;
    if (blob.entry_bci != -1) name += "@" + std::to_string(blob.entry_bci);
    writer.Code(SymbolKind::kNmethod, name, blob.begin, blob.end);
    // Where compiled methods lie, there is class metadata.
    DescribeMethod(blob.method, writer, state);
  }
  for (const Codelet& codelet : code_.Codelets())
    writer.Code(SymbolKind::kCodelet, codelet.description, codelet.begin, codelet.end);
  // StubCodeDesc (stubCodeGenerator.hpp): _next, _group, _name, _begin, _end; JDK 9 and later.
  constexpr int kMostStubs = 10000;
  uint64_t stub = stub_list_ == 0 ? 0 : WordAt(core_, stub_list_);
  for (int i = 0; i < kMostStubs && stub != 0; i++, stub = WordAt(core_, stub)) {
    const uint64_t begin = WordAt(core_, stub + 24), end = WordAt(core_, stub + 32);
    if (begin >= code_.low() && end <= code_.high() && begin < end)
      writer.Code(SymbolKind::kStub, ReadText(core_, WordAt(core_, stub + 16)), begin, end);
  }
}

void CoreJvm::DescribeModules(StressState& state) const {
  const std::vector<Module> modules = core_.Modules(kMaxModules);
  std::copy(modules.begin(), modules.end(), state.modules);
  state.module_count.store(static_cast<uint32_t>(modules.size()));
}

void CoreJvm::DescribeAreas(StressState& state) const {
  uint32_t count = 0;
  for (const CoreArea& area : core_.areas())
    if (count < StressState::kMaxAreas)
      state.areas[count++] = {area.begin, area.end, area.readable, {}};
  state.area_count.store(count);
}

bool CoreJvm::DescribeMethod(uint64_t method, StateWriter& writer, StressState& state) const {
  if (writer.HasMethod(method)) return true;
  const uint32_t count = state.method_count.load();
  const std::string name = MethodName(method);
  if (name.empty() || count == StressState::kMaxMethods) return false;
  const asgst::Metadata metadata(metadata_, core_);
  asgst::MethodView view;
  metadata.Open(method, view);
  MethodPlace& place = state.methods[count];
  place.name = writer.Name(name);
  place.code_size = static_cast<uint32_t>(metadata.CodeSizeOf(view));
  place.codes = view.const_method + static_cast<uint64_t>(metadata_.header_bytes);
  place.method.store(method);
  writer.AddMethod(method);
  state.method_count.store(count + 1);
  return true;
}

void CoreJvm::Describe(std::span<const uint64_t> words, StressState& state) const {
  StateWriter writer(state);
  DescribeCode(writer, state);
  DescribeModules(state);
  DescribeAreas(state);
  // A word may lead into a Method, too.
  for (const uint64_t word : words)
    for (uint64_t back = 0; back < kMethodWords; back++)
      if (DescribeMethod((word & ~7ULL) - 8 * back, writer, state)) break;
}

}  // namespace walkhammer
