// SPDX-License-Identifier: Apache-2.0
// CoreJvm: the JVM in a core, by the vmStructs of its libjvm: threads, generated code, methods.
// Puts what it names into a StressState, by which samples of running JVMs become requests, too.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_CRASH_CORE_CORE_JVM_H_
#define WALKHAMMER_HARNESS_CRASH_CORE_CORE_JVM_H_

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/metadata.h"
#include "harness/base/result.h"
#include "harness/crash/core/core_file.h"
#include "harness/ipc/stress_state.h"
#include "harness/jvm/structs/code_cache.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

// A JavaThread of the core.
struct CoreJavaThread {
  uint64_t address = 0;  // 0: none
  int32_t tid = 0;       // 0: not known
  uint8_t state = 0;     // with walkhammer's number
  uint64_t stack_base = 0, stack_limit = 0;
  uint64_t anchor_sp = 0, anchor_pc = 0, anchor_fp = 0;
};

class StateWriter;

class CoreJvm {
 public:
  // `core` must outlive the object. kUnable: no HotSpot is in the core, or its libjvm.so, by the
  // path that the core names, is not on this machine.
  static Result<std::unique_ptr<CoreJvm>> Open(const CoreFile& core);

  // The thread on whose stack `sp` lies; address 0 if there is none.
  CoreJavaThread ThreadOf(uint64_t sp) const;
  std::vector<CoreJavaThread> JavaThreads() const;
  // What a walk needs to know of this JVM.
  Result<asgst::WalkLayout> WalkLayoutOf() const;
  const asgst::MetadataLayout& metadata() const { return metadata_; }
  // "17.0.15+6-Debian-1deb12u1"; empty if it is not known.
  std::string Version() const { return version_; }
  int feature() const { return feature_; }

  // True for an address in the code cache: of nmethods, stubs, the interpreter.
  bool IsGeneratedCode(uint64_t address) const {
    return address >= code_.low() && address < code_.high();
  }

  // Names what the words may refer to: generated code, modules, memory; methods as far as the words
  // lead to them.
  void Describe(std::span<const uint64_t> words, StressState& state) const;
  // "a.B.run(I)V" of the method at `method`; empty if none is there.
  std::string MethodName(uint64_t method) const;

 private:
  CoreJvm(const CoreFile& core, VmStructs structs, CodeCache code)
      : core_(core), structs_(std::move(structs)), code_(code) {}
  void ReadVersion();
  Status ReadLayouts();
  void DescribeCode(StateWriter& writer, StressState& state) const;
  void DescribeModules(StressState& state) const;
  void DescribeAreas(StressState& state) const;
  bool DescribeMethod(uint64_t method, StateWriter& writer, StressState& state) const;
  std::string Symbol(uint64_t symbol) const;
  std::vector<uint64_t> Threads() const;
  CoreJavaThread ReadThread(uint64_t address) const;

  const CoreFile& core_;
  VmStructs structs_;
  CodeCache code_;
  JvmLayout layout_{};
  asgst::MetadataLayout metadata_{};
  std::string version_;
  int feature_ = 0;
  // Addresses of symbols; 0: not known. stub_list_: StubCodeDesc::_list
  uint64_t stub_list_ = 0, continuation_return_ = 0, return_barrier_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CORE_CORE_JVM_H_
