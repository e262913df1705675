// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/address_map.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <set>
#include <unordered_map>

#include "harness/base/mappings.h"
#include "harness/request/scene_table.h"
#include "harness/scenes/physical_frames.h"

namespace walkhammer {
namespace {

// Stubs of one name that are pooled ("I2C/C2I adapters", "vtable chunks"). Whether more of them
// exist depends on what else the JVM did; requests must not depend on that.
constexpr int kPooledPerName = 4;
constexpr char kOwnClasses[] = "wh.";
constexpr char kZombieScene[] = "zombie-code";
constexpr char kZombie[] = "zombie";
constexpr char kStandInNmethod[] = "wh.Sampled.bestDown(Ljava/lang/String;J)J";
constexpr char kStandInMethod[] = "wh.Sampled.interpPass()V";

std::string FileName(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

const Mapping* Holding(const std::vector<Mapping>& mappings, uint64_t address) {
  for (const Mapping& mapping : mappings)
    if (address >= mapping.begin && address < mapping.end) return &mapping;
  return nullptr;
}

// True for stubs of virtual calls: they appear when a call first needs them, at no fixed time.
bool IsMadeOnDemand(const std::string& stub) {
  return stub.starts_with("vtable") || stub.starts_with("itable");
}

// True for methods of hidden classes: an address is part of the class name, so other processes do
// not know the name.
bool IsHidden(std::string_view method) { return method.find("0x") != std::string_view::npos; }

std::string Ordinal(const std::string& name, int ordinal) {
  return ordinal == 0 ? name : name + "#" + std::to_string(ordinal);
}

// The pcs of the frames of all scenes.
std::set<uint64_t> ActivePcs(const Jvm& jvm, SceneStage& stage) {
  std::set<uint64_t> pcs;
  for (const ParkedScene* scene : stage.All())
    for (const PhysicalFrame& frame : FindPhysicalFrames(*scene, jvm)) pcs.insert(frame.pc);
  return pcs;
}

// Middle of the widest gap between mappings: nothing else will be mapped there soon.
uint64_t UnmappedAddress(const std::vector<Mapping>& mappings) {
  uint64_t widest = 0, middle = 0;
  for (size_t i = 1; i < mappings.size(); i++) {
    if (mappings[i].begin < mappings[i - 1].end || (mappings[i].begin >> 47) != 0) continue;
    uint64_t gap = mappings[i].begin - mappings[i - 1].end;
    if (gap <= widest) continue;
    widest = gap;
    middle = (mappings[i - 1].end + gap / 2) & ~0xfffULL;
  }
  return middle;
}

}  // namespace

uint32_t AddressMap::Set(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end) {
  uint32_t symbol = IsNamed(kind) ? symbols_->Intern(kind, name) : SymbolTable::IdOf(kind);
  addresses_[symbol] = begin;
  if (kind == SymbolKind::kNmethod || kind == SymbolKind::kStub || kind == SymbolKind::kCodelet)
    code_[begin] = {end, symbol};
  return symbol;
}

void AddressMap::AddToPool(SymbolKind kind, uint32_t symbol, uint64_t size) {
  pools_[static_cast<int>(kind)].push_back({symbol, static_cast<uint32_t>(size)});
}

void AddressMap::AddStubs(Jvm& jvm) {
  std::set<uint64_t> seen;
  std::map<std::string, int> ordinals;
  // JVMTI lists stub routines newest first; address order is the order of generation.
  std::vector<NamedCode> stubs = jvm.Stubs();
  std::sort(stubs.begin(), stubs.end(),
            [](const NamedCode& a, const NamedCode& b) { return a.begin < b.begin; });
  for (const NamedCode& stub : stubs) {
    if (stub.end <= stub.begin || !seen.insert(stub.begin).second) continue;
    const std::string name = CleanName(stub.name);
    const int ordinal = ordinals[name]++;
    const uint32_t symbol = Set(SymbolKind::kStub, Ordinal(name, ordinal), stub.begin, stub.end);
    if (ordinal < kPooledPerName && !IsMadeOnDemand(name))
      AddToPool(SymbolKind::kStub, symbol, stub.end - stub.begin);
  }
}

void AddressMap::AddCodelets(Jvm& jvm) {
  std::map<std::string, int> ordinals;
  for (const Codelet& codelet : jvm.code_cache().Codelets()) {
    const std::string name = CleanName(codelet.description);
    const uint32_t symbol =
        Set(SymbolKind::kCodelet, Ordinal(name, ordinals[name]++), codelet.begin, codelet.end);
    AddToPool(SymbolKind::kCodelet, symbol, codelet.end - codelet.begin);
  }
  Set(SymbolKind::kCodeCache, "", jvm.code_cache().low(), 0);
  Set(SymbolKind::kCodeCacheEnd, "", jvm.code_cache().high(), 0);
}

// A method may have several nmethods: older tiers linger. A name means the nmethod that runs in a
// scene, else the installed one, else the one of the highest tier. Only nmethods that run in a
// scene are pooled: what else is compiled, and when it is freed, differs from run to run.
// A zombie no longer knows its method. The scene zombie-code keeps one zombie, so the first zombie
// is pooled with that scene; other zombies are only named.
void AddressMap::AddNmethods(Jvm& jvm, SceneStage& stage) {
  struct Choice {
    CodeBlob blob;
    bool active;
    int Rank() const { return active * 16 + blob.installed * 8 + blob.comp_level; }
  };
  std::map<std::string, Choice> chosen;
  const bool pooled = stage.Find(*FindScene(kZombieScene)) != nullptr;
  int zombies = 0;
  const std::set<uint64_t> pcs = ActivePcs(jvm, stage);
  for (CodeBlob& blob : jvm.code_cache().Blobs()) {
    if (blob.IsZombie(jvm.feature())) {
      const uint32_t symbol =
          Set(SymbolKind::kNmethod, Ordinal(kZombie, zombies), blob.begin, blob.end);
      if (pooled && zombies == 0)
        AddToPool(SymbolKind::kNmethod, symbol, std::bit_floor(blob.end - blob.begin));
      zombies++;
    }
    auto found = blob.is_nmethod ? method_names_.find(blob.method) : method_names_.end();
    if (found == method_names_.end()) continue;
    std::string name = found->second;
    if (blob.entry_bci != -1) name += "@" + std::to_string(blob.entry_bci);
    auto pc = pcs.upper_bound(blob.begin);
    const Choice choice{blob, pc != pcs.end() && *pc < blob.end};
    auto [at, fresh] = chosen.try_emplace(CleanName(name), choice);
    if (!fresh && at->second.Rank() < choice.Rank()) at->second = choice;
  }
  for (const auto& [name, choice] : chosen) {
    const uint32_t symbol = Set(SymbolKind::kNmethod, name, choice.blob.begin, choice.blob.end);
    // Rounded down to a power of two: code of one method may differ by some bytes from run to run.
    if (choice.active && name.starts_with(kOwnClasses))
      AddToPool(SymbolKind::kNmethod, symbol, std::bit_floor(choice.blob.end - choice.blob.begin));
  }
}

void AddressMap::AddMethods(const Jvm& jvm) {
  constexpr uint32_t kMethodBytes = 96;  // about the size of a Method, for addends
  std::unordered_map<std::string, uint64_t> methods;
  for (const auto& [address, name] : method_names_) {
    methods[CleanName(name)] = address;
    if (!std::string_view(name).starts_with(kOwnClasses) || IsHidden(name)) continue;
    AddToPool(SymbolKind::kMethod, Set(SymbolKind::kMethod, CleanName(name), address, 0),
              kMethodBytes);
  }
  const auto header = jvm.structs().SizeOf("ConstMethod");
  // Methods that a request from a file names and that are not in the pool.
  for (uint32_t id = kSymbolKinds; id < symbols_->size(); id++) {
    const Symbol& symbol = symbols_->at(id);
    const bool codes = symbol.kind == SymbolKind::kBytecodes && header;
    if ((symbol.kind != SymbolKind::kMethod && !codes) || addresses_[id] != 0) continue;
    auto found = methods.find(symbol.name);
    if (found == methods.end()) continue;
    addresses_[id] = found->second;
    const uint64_t constant = found->second + static_cast<uint64_t>(jvm.layout().method_const);
    if (codes) addresses_[id] = *header + *reinterpret_cast<uint64_t*>(constant);
  }
}

void AddressMap::AddMappings(Jvm& jvm, SceneStage& stage) {
  void* no_access = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* zeros = mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  Set(SymbolKind::kNoAccess, "", reinterpret_cast<uint64_t>(no_access), 0);
  Set(SymbolKind::kZeroPage, "", reinterpret_cast<uint64_t>(zeros), 0);

  const std::vector<Mapping> mappings = ReadMappings();
  Set(SymbolKind::kUnmapped, "", UnmappedAddress(mappings), 0);

  // A JNI handle leads to the address of an object, and the mapping there is the heap. ZGC keeps
  // metadata in such addresses; if nothing is mapped there, the heap gets no address.
  JNIEnv* env = jvm.env();
  jstring object = env->NewStringUTF("x");
  uint64_t oop = *reinterpret_cast<uint64_t*>(reinterpret_cast<uint64_t>(object) & ~7ULL);
  if (const Mapping* heap = Holding(mappings, oop)) {
    Set(SymbolKind::kHeap, "", heap->begin, 0);
    Set(SymbolKind::kHeapEnd, "", heap->end, 0);
  }
  for (const ParkedScene* scene : stage.All()) {
    uint64_t method = jvm.MethodOf(static_cast<jmethodID>(scene->truth[0].method));
    if (const Mapping* metaspace = Holding(mappings, method)) {
      Set(SymbolKind::kMetaspace, "", metaspace->begin, 0);
      break;
    }
  }

  std::map<std::string, std::pair<uint64_t, uint64_t>> libraries;
  for (const Mapping& mapping : mappings) {
    if (mapping.path.empty() || mapping.path[0] != '/') continue;
    std::string name = CleanName(FileName(mapping.path));
    auto [at, fresh] = libraries.try_emplace(name, mapping.begin, mapping.end);
    if (!fresh) at->second.second = mapping.end;
  }
  for (const auto& [name, range] : libraries) {
    uint32_t begin = Set(SymbolKind::kLibrary, name, range.first, range.second);
    uint32_t end = Set(SymbolKind::kLibraryEnd, name, range.second, 0);
    if (name != "libjvm.so" && !name.starts_with("libc.so")) continue;
    AddToPool(SymbolKind::kLibrary, begin, range.second - range.first);
    AddToPool(SymbolKind::kLibraryEnd, end, 4096);
  }
}

void AddressMap::AddSceneStacks(SceneStage& stage) {
  for (const ParkedScene* scene : stage.All()) {
    const char* name = AllScenes()[static_cast<size_t>(scene->index)].name;
    AddToPool(SymbolKind::kSceneStack, Set(SymbolKind::kSceneStack, name, scene->stack_low, 0),
              std::min<uint64_t>(scene->stack_high - scene->stack_low, 4096));
  }
}

std::unique_ptr<AddressMap> AddressMap::Build(Jvm& jvm, SceneStage& stage, SymbolTable& symbols) {
  std::unique_ptr<AddressMap> address_map(new AddressMap);
  address_map->symbols_ = &symbols;
  symbols.Intern(SymbolKind::kBytecodes, kStandInMethod);
  jvm.methods().ForEach([&](const MethodEntry& entry) {
    const uint64_t method = jvm.MethodOf(static_cast<jmethodID>(entry.id.load()));
    if (method != 0) address_map->method_names_[method] = entry.name;
  });
  address_map->AddStubs(jvm);
  address_map->AddCodelets(jvm);
  address_map->AddNmethods(jvm, stage);
  address_map->AddMethods(jvm);
  address_map->AddMappings(jvm, stage);
  address_map->AddSceneStacks(stage);
  // Sorted by name, so that the order does not depend on addresses.
  for (auto& pool : address_map->pools_)
    std::sort(pool.begin(), pool.end(), [&](const PoolEntry& a, const PoolEntry& b) {
      return std::strcmp(symbols.at(a.symbol).name, symbols.at(b.symbol).name) < 0;
    });
  return address_map;
}

bool AddressMap::AddStandIn(uint32_t symbol) {
  const Symbol wanted = symbols_->at(symbol);
  // The name without the "#n" of stubs and codelets, or the "@bci" of nmethods.
  const std::string_view name(wanted.name);
  const std::string stem(name.substr(0, name.find_last_of("#@")));
  const auto known = [&](SymbolKind kind, std::string_view other) -> uint64_t {
    const auto id = symbols_->Find(kind, other);
    return id ? AddressOf(*id) : 0;
  };
  uint64_t found = 0;
  switch (wanted.kind) {
    case SymbolKind::kStub:
    case SymbolKind::kCodelet:
      found = known(wanted.kind, stem);
      break;
    case SymbolKind::kNmethod: {
      found = known(wanted.kind, stem);
      std::string least;
      for (uint32_t id = kSymbolKinds; found == 0 && id < symbols_->size(); id++) {
        const Symbol& other = symbols_->at(id);
        if (other.kind != wanted.kind || !IsKnown(id)) continue;
        if (std::string_view(other.name).starts_with(stem + "@") &&
            (least.empty() || other.name < least))
          least = other.name;
      }
      if (found == 0) found = known(wanted.kind, least);
      if (found == 0) found = known(wanted.kind, kStandInNmethod);
      break;
    }
    case SymbolKind::kMethod:
    case SymbolKind::kBytecodes:
      found = known(wanted.kind, kStandInMethod);
      break;
    case SymbolKind::kLibrary:
    case SymbolKind::kLibraryEnd:
      found = known(wanted.kind, "libjvm.so");
      break;
    default:
      return false;
  }
  if (found == 0 && !Pool(wanted.kind).empty()) found = AddressOf(Pool(wanted.kind)[0].symbol);
  addresses_[symbol] = found;
  return found != 0;
}

bool AddressMap::IsFreedZombie(const Jvm& jvm, uint32_t symbol) const {
  const Symbol& named = symbols_->at(symbol);
  const std::string_view name(named.name);
  if (named.kind != SymbolKind::kNmethod || name.substr(0, name.find('#')) != kZombie) return false;
  const std::vector<CodeBlob> blobs = jvm.code_cache().Blobs();
  return std::none_of(blobs.begin(), blobs.end(), [&](const CodeBlob& blob) {
    return blob.begin == AddressOf(symbol) && blob.IsZombie(jvm.feature());
  });
}

uint64_t AddressMap::EndOf(uint32_t symbol) const {
  auto found = code_.find(AddressOf(symbol));
  return found == code_.end() || found->second.symbol != symbol ? 0 : found->second.end;
}

std::optional<Value> AddressMap::ValueOf(uint64_t address) {
  auto after = code_.upper_bound(address);
  if (after != code_.begin()) {
    const auto& [begin, area] = *std::prev(after);
    if (address < area.end) return Value{static_cast<int64_t>(address - begin), area.symbol, 0};
  }
  auto method = method_names_.find(address);
  if (method == method_names_.end() || IsHidden(method->second)) return std::nullopt;
  const uint32_t symbol = symbols_->Intern(SymbolKind::kMethod, CleanName(method->second));
  if (symbols_->at(symbol).kind != SymbolKind::kMethod) return std::nullopt;  // the table is full
  if (addresses_[symbol] == 0) addresses_[symbol] = address;
  if (addresses_[symbol] != address) return std::nullopt;
  return Value{0, symbol, 0};
}

void AddressMap::Describe(uint64_t pc, char* text, size_t size) const {
  text[0] = 0;
  auto after = code_.upper_bound(pc);
  if (after == code_.begin()) return;
  const auto& [begin, area] = *std::prev(after);
  if (pc >= area.end) return;
  const Symbol& symbol = symbols_->at(area.symbol);
  const std::string_view word = KindWord(symbol.kind);
  std::snprintf(text, size, "%.*s %s+0x%llx", static_cast<int>(word.size()), word.data(),
                symbol.name, static_cast<unsigned long long>(pc - begin));
}

}  // namespace walkhammer
