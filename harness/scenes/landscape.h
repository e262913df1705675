// SPDX-License-Identifier: Apache-2.0
// Landscape: the map of this process that gives symbols their addresses, and lists the
// interesting ones. Built once after the scenes are set up, while the JVM is quiet.
// Signal-safe: AddressOf, IsKnown and Describe yes; the rest no.
#ifndef WALKHAMMER_HARNESS_SCENES_LANDSCAPE_H_
#define WALKHAMMER_HARNESS_SCENES_LANDSCAPE_H_

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
  uint32_t size;  // bytes that belong to it; addends below this stay inside
};

class Landscape {
 public:
  // Interns what it finds into `symbols`.
  static std::unique_ptr<Landscape> Build(Jvm& jvm, SceneStage& stage, SymbolTable& symbols);

  // Address of a symbol that does not depend on the scene; 0 if it is not known here.
  uint64_t AddressOf(uint32_t symbol) const {
    return symbol < SymbolTable::kCapacity ? addresses_[symbol] : 0;
  }
  bool IsKnown(uint32_t symbol) const { return AddressOf(symbol) != 0; }

  // The same entries in the same order in every process of the same JDK and flags.
  std::span<const PoolEntry> Pool(SymbolKind kind) const { return pools_[static_cast<int>(kind)]; }

  // Gives a name of a request that is not known here the address of what comes nearest: the first
  // of stubs with that name, other code of the same method, else something of the same kind in the
  // scene `sampled`. The same in every process. False where there is nothing.
  bool AddStandIn(uint32_t symbol);

  // Whether the symbol means a zombie, and the sweeper has freed that since.
  bool IsFreedZombie(const Jvm& jvm, uint32_t symbol) const;

  // The end of a code symbol (nmethod, stub, codelet); 0 if it is not known here.
  uint64_t EndOf(uint32_t symbol) const;

  // The reverse: code symbol + offset, or the Method* of a method, which is interned where new.
  // Nothing where the name would mean another address, or nothing to another process.
  std::optional<Value> ValueOf(uint64_t address);

  // Name of the generated code that holds pc, e.g. "stub call_stub+0x10"; empty if none does.
  // Allocates nothing: a crash may have stranded the allocator.
  void Describe(uint64_t pc, char* text, size_t size) const;

 private:
  struct Area {
    uint64_t end;
    uint32_t symbol;
  };
  Landscape() : addresses_(new uint64_t[SymbolTable::kCapacity]()) {}
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

#endif  // WALKHAMMER_HARNESS_SCENES_LANDSCAPE_H_
