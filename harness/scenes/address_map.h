// SPDX-License-Identifier: Apache-2.0
// AddressMap: the map of this process that gives symbols their addresses, and lists the symbols
// worth presenting. Built after the scenes are set up, while the JVM is quiet.
// Signal-safe: AddressOf, IsKnown and Describe yes; the rest no.
#ifndef WALKHAMMER_HARNESS_SCENES_ADDRESS_MAP_H_
#define WALKHAMMER_HARNESS_SCENES_ADDRESS_MAP_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "harness/jvm/live/boot.h"
#include "harness/request/symbol_table.h"
#include "harness/request/walk_request.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// An address worth presenting to a walker.
struct PoolEntry {
  uint32_t symbol;
  uint32_t size;  // bytes; addends below `size` stay inside
};

class AddressMap {
 public:
  // Knows no symbol.
  AddressMap() : addresses_(new uint64_t[SymbolTable::kCapacity]()) {}

  // Maps this process. Names that it finds are interned into `symbols`, which must outlive the map.
  static std::unique_ptr<AddressMap> Build(Jvm& jvm, SceneStage& stage, SymbolTable& symbols);

  // Address of a symbol whose address is the same for all scenes; 0 if it is not known here.
  uint64_t AddressOf(uint32_t symbol) const {
    return symbol < SymbolTable::kCapacity ? addresses_[symbol] : 0;
  }
  bool IsKnown(uint32_t symbol) const { return AddressOf(symbol) != 0; }

  // Symbols of `kind` worth presenting: the same entries in the same order in every process of the
  // same JDK and flags.
  std::span<const PoolEntry> Pool(SymbolKind kind) const { return pools_[static_cast<int>(kind)]; }

  // Gives `symbol`, a name of a request that is not known here, the nearest known address: for a
  // stub or codelet the first one of that name, for an nmethod other code of the method, else code
  // or a method of the scene `sampled`, for a library libjvm.so; else the first entry of the pool.
  // The choice is the same in every process. False if there is none.
  bool AddStandIn(uint32_t symbol);

  // True if `symbol` names a zombie that the sweeper has freed since Build.
  bool IsFreedZombie(const Jvm& jvm, uint32_t symbol) const;

  // End address of a code symbol (nmethod, stub, codelet), exclusive; 0 if it is not known here.
  uint64_t EndOf(uint32_t symbol) const;

  // Names `address`: code symbol + offset, or the Method* of a method, whose name is interned if it
  // is new. nullopt if there is no name, if the name means another address, or if other processes
  // would not know the name.
  std::optional<Value> ValueOf(uint64_t address);

  // Writes the name of the generated code that holds `pc` to `text` (`size` bytes), for example
  // "stub call_stub+0x10"; "" if no code does. Allocates nothing: a crash may have left the
  // allocator locked.
  void Describe(uint64_t pc, char* text, size_t size) const;

 private:
  struct Area {
    uint64_t end;
    uint32_t symbol;
  };
  uint32_t Set(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end);
  void AddToPool(SymbolKind kind, uint32_t symbol, uint64_t size);
  void AddStubs(Jvm& jvm);
  void AddCodelets(Jvm& jvm);
  void AddNmethods(Jvm& jvm, SceneStage& stage);
  void AddMethods(const Jvm& jvm);
  void AddMappings(Jvm& jvm, SceneStage& stage);
  void AddSceneStacks(SceneStage& stage);

  SymbolTable* symbols_ = nullptr;
  std::unique_ptr<uint64_t[]> addresses_;
  std::vector<PoolEntry> pools_[kSymbolKinds];
  std::map<uint64_t, Area> code_;                           // by begin
  std::unordered_map<uint64_t, const char*> method_names_;  // by Method*
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_ADDRESS_MAP_H_
