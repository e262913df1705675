// SPDX-License-Identifier: Apache-2.0
// Metadata: reads what HotSpot keeps of methods and classes: names, modifiers, numbers, lines.
// Pure: all reads go through a MemoryReader, and no value that is read is trusted.
// Signal-safe: yes, but for ReadMetadataLayout. Every loop is bounded by a limit of the class file
// format.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_

#include <cstdint>

#include "harness/asgst/walk/number_stream.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Byte offsets from vmStructs; -1: this JDK has no such field, and its content is unknown.
struct MetadataLayout {
  // Method
  int method_const, method_flags;
  // ConstMethod
  int pool, words, code_size, name_index, signature_index;
  int header_bytes;  // size of the ConstMethod itself; the bytecodes follow
  int flags;
  uint32_t has_lines, has_generic;  // bits of the flags
  uint32_t annotations[4];          // bits of the flags; each set bit: a word at the end
  int original_idnum;               // from FindOriginalIdNum
  // ConstantPool; its entries begin at pool_bytes
  int pool_tags, pool_holder, pool_length, pool_generic, pool_bytes;
  // Klass, InstanceKlass
  int layout_helper, class_name, class_flags, class_pool, methods, inner_classes;
  // Array<u1>, Array<u2>, Array<Method*>: where the elements begin; their number, an int, is at 0
  int bytes_data, shorts_data, methods_data;
  // Symbol
  int symbol_length, symbol_body;
  bool null_free_numbers;  // JDK 20 and later (JDK-8292758)
};

// Fails with kUnable when a required field, or the size of a ConstMethod or ConstantPool, is
// missing.
Result<MetadataLayout> ReadMetadataLayout(const VmStructs& structs, int feature);

// A method, and the addresses that lead to all its data.
struct MethodView {
  uint64_t method = 0, const_method = 0, pool = 0;
  uint64_t holder = 0;             // InstanceKlass*; the same for all versions of a method
  uint64_t vtable = 0;             // first word of the Method: its C++ virtual table
  uint64_t code_end = 0, end = 0;  // ends of the bytecodes and of the ConstMethod
};

class Metadata {
 public:
  Metadata(const MetadataLayout& layout, const MemoryReader& memory)
      : l_(layout), memory_(memory) {}

  // Fills `view`. False if no Method can be at `method`.
  bool Open(uint64_t method, MethodView& view) const;
  // NameOf, SignatureOf, GenericSignatureOf: Symbol*; 0: unknown, or none.
  uint64_t NameOf(const MethodView& method) const;
  uint64_t SignatureOf(const MethodView& method) const;
  uint64_t GenericSignatureOf(const MethodView& method) const;
  int32_t ModifiersOf(const MethodView& method) const;  // as in the class file; -1: unknown
  // The method's number in its class, the same for all versions of the method; -1: unknown.
  int32_t IdNumOf(const MethodView& method) const;
  // Size of the bytecodes, in bytes.
  int32_t CodeSizeOf(const MethodView& method) const {
    return static_cast<int32_t>(method.code_end - method.const_method) - l_.header_bytes;
  }

  // Functions of classes, each given as an InstanceKlass*.
  bool IsInstanceClass(uint64_t klass) const;
  uint64_t NameOfClass(uint64_t klass) const;  // "pkg/Name"
  uint64_t GenericSignatureOfClass(uint64_t klass) const;
  // True if the class and its constant pool point to each other.
  bool OwnsItsPool(uint64_t klass) const;
  // Modifiers as from java.lang.Class.getModifiers: of the InnerClasses attribute, if that lists
  // the class; -1: unknown.
  int32_t ModifiersOfClass(uint64_t klass) const;
  // Array<Method*>* of the class, a different one after each redefinition; `count`: how many
  // methods there are. 0: unknown.
  uint64_t MethodsOfClass(uint64_t klass, int& count) const;
  uint64_t MethodAt(uint64_t methods, int index) const;

  // Copies a Symbol's text, truncated to fit, and a NUL; `size`: bytes at `to`. Returns the length
  // of the whole text; -1: it cannot be read, and only the NUL at to[0] is certain.
  int32_t Copy(uint64_t symbol, char* to, int32_t size) const;

  // Offset of ConstMethod::_orig_method_idnum, which is in no vmStructs; -1: not found. The field
  // is after _size_of_parameters and, from JDK 19 on, _num_stack_arg_slots: returns the first
  // offset there at which all methods of `klass` have their _method_idnum, too. `klass` needs
  // several methods, and no old versions among them.
  int FindOriginalIdNum(const VmStructs& structs, uint64_t klass) const;

 private:
  uint64_t TextAt(uint64_t pool, uint32_t index) const;
  uint64_t TextByIndexAt(uint64_t address, uint64_t pool) const;
  bool HasTag(uint64_t pool, uint32_t index, uint8_t& tag) const;
  bool FlagsOf(const MethodView& method, uint32_t& flags) const;
  uint64_t ClassNameAt(uint64_t pool, uint32_t index) const;

  friend class LineNumbers;
  const MetadataLayout& l_;
  const MemoryReader& memory_;
};

// Reads a method's line number table by entry, in the order of the class file, which need not be by
// bytecode.
class LineNumbers {
 public:
  // `metadata` must outlive the object.
  LineNumbers(const Metadata& metadata, const MethodView& method);
  // False at the end of the table, or where the table is damaged or cannot be read.
  bool Next(int32_t& start_bci, int32_t& line);

 private:
  NumberStream stream_;
  uint64_t end_;
  int32_t bci_ = 0, line_ = 0;
};

// Line of a bytecode, as stack traces have it: of the first entry that begins at `bci`; else,
// among the entries that begin nearest before `bci`, of the last one. -1: unknown.
int32_t LineOf(const Metadata& metadata, const MethodView& method, int32_t bci);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_
