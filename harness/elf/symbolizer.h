// SPDX-License-Identifier: Apache-2.0
// Symbolizer: turns an address in a (possibly dead) child into module, function and offset, with
// the symbol tables of the ELF files that the child had mapped.
// Called by the parent and by reports; a module is read at its first use.
// Signal-safe: no. Not thread-safe.
#ifndef WALKHAMMER_HARNESS_ELF_SYMBOLIZER_H_
#define WALKHAMMER_HARNESS_ELF_SYMBOLIZER_H_

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/elf/modules.h"

namespace walkhammer {

// What an address refers to. `function` is empty if the file has no symbol that covers the
// address: a stripped file, or a file that was replaced after the child had mapped it.
struct Site {
  std::string module;          // file name without folders; empty: in no module
  std::string build_id;        // the module's, hex; empty if it has none
  std::string function;        // demangled, full signature
  std::string function_base;   // without return type, argument list and clone suffix
  uint64_t offset = 0;         // bytes into the function
  uint64_t module_offset = 0;  // ELF virtual address, what addr2line takes

  bool in_module() const { return !module.empty(); }
};

class Symbolizer {
 public:
  explicit Symbolizer(std::span<const Module> modules);
  ~Symbolizer();
  Symbolizer(Symbolizer&&) noexcept;
  Symbolizer& operator=(Symbolizer&&) noexcept;

  // The function that the instruction at `pc` belongs to.
  Site Resolve(uint64_t pc) const;

  // What the instruction at `pc` does to memory: see Disassembler::Access. Empty if the file does
  // not hold that instruction.
  std::string AccessAt(uint64_t pc) const;

  // The function that `return_address` returns into, found by the byte before it, as a call that
  // never returns may be a function's last instruction. The offset is still that of
  // `return_address`.
  Site ResolveCaller(uint64_t return_address) const;

 private:
  struct Image;  // one module and, once read, its symbols
  mutable std::vector<std::unique_ptr<Image>> images_;
};

// "libjvm.so frame::sender(RegisterMap*) const+0x1f", "libjvm.so+0xed2f94" without a symbol,
// "" in no module.
std::string SiteText(const Site& site);
// "frame::sender(RegisterMap*) const+0x1f", "libjvm.so+0xed2f94" without a symbol, "" in no module.
std::string SiteFunctionText(const Site& site);
// "frame::sender", "libjvm.so+0xed2f94" without a symbol, "" in no module.
std::string SiteTitle(const Site& site);

// "frame::sender" for "frame::sender(RegisterMap*) const"; text that is not a signature is returned
// unchanged.
std::string FunctionBase(std::string_view demangled);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_SYMBOLIZER_H_
