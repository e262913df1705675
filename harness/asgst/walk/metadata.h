// SPDX-License-Identifier: Apache-2.0
// Metadata: what HotSpot keeps of its methods and classes: names, modifiers, numbers, lines. Pure:
// it reads through a MemoryReader and believes nothing that it reads.
// Signal-safe: yes, but for ReadMetadataLayout. Every loop is bounded by a size of the class file
// format.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_

#include <cstdint>

#include "harness/asgst/walk/number_stream.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Byte offsets from vmStructs; -1: this JDK has no such field, and what it tells is unknown.
struct MetadataLayout {
  // Method
  int method_const, method_flags;
  // ConstMethod
  int pool, words, code_size, name_index, signature_index;
  int header_bytes;  // of the ConstMethod itself; the byte codes follow
  int flags;
  uint32_t has_lines, has_generic;  // bits of the flags
  uint32_t annotations[4];          // bits; for each one there is a word at the end
  int original_idnum;               // FindOriginalIdNum
  // ConstantPool; its entries follow
  int pool_tags, pool_holder, pool_length, pool_generic, pool_bytes;
  // Klass, InstanceKlass
  int layout_helper, class_name, class_flags, class_pool, methods, inner_classes;
  // Array<u1>, Array<u2>, Array<Method*>: where the elements begin; an int, how many, comes first
  int bytes_data, shorts_data, methods_data;
  // Symbol
  int symbol_length, symbol_body;
  bool null_free_numbers;  // JDK 20 and later (JDK-8292758)
};

// Fails with kUnable when a field is missing without which no method has a name.
Result<MetadataLayout> ReadMetadataLayout(const VmStructs& structs, int feature);

// A method, and what leads to everything else of it.
struct MethodView {
  uint64_t method = 0, const_method = 0, pool = 0;
  uint64_t holder = 0;             // InstanceKlass*; of all versions of a method the same
  uint64_t vtable = 0;             // its first word: in a Method, that of a C++ virtual table
  uint64_t code_end = 0, end = 0;  // of the ConstMethod's byte codes, and its own
};

class Metadata {
 public:
  Metadata(const MetadataLayout& layout, const MemoryReader& memory)
      : l_(layout), memory_(memory) {}

  // False if no Method can stand there.
  bool Open(uint64_t method, MethodView& view) const;
  // Symbol*; 0: unknown, or there is none.
  uint64_t NameOf(const MethodView& method) const;
  uint64_t SignatureOf(const MethodView& method) const;
  uint64_t GenericSignatureOf(const MethodView& method) const;
  int32_t ModifiersOf(const MethodView& method) const;  // as in the class file; -1: unknown
  // A method's number in its class, the same for all versions of it; -1: unknown.
  int32_t IdNumOf(const MethodView& method) const;
  // Bytes of byte code.
  int32_t CodeSizeOf(const MethodView& method) const {
    return static_cast<int32_t>(method.code_end - method.const_method) - l_.header_bytes;
  }

  // Of classes, each given as an InstanceKlass*.
  bool IsInstanceClass(uint64_t klass) const;
  uint64_t NameOfClass(uint64_t klass) const;  // "pkg/Name"
  uint64_t GenericSignatureOfClass(uint64_t klass) const;
  // Whether a class and its constant pool lead to each other.
  bool OwnsItsPool(uint64_t klass) const;
  // As its InnerClasses attribute has them, if it does, like java.lang.Class.getModifiers.
  int32_t ModifiersOfClass(uint64_t klass) const;
  // Array<Method*>*, another one after each redefinition, and how many there are; 0: none.
  uint64_t MethodsOfClass(uint64_t klass, int& count) const;
  uint64_t MethodAt(uint64_t methods, int index) const;

  // The length of a Symbol's text; -1: it cannot be read.
  int32_t LengthOf(uint64_t symbol) const;
  // Copies what fits in front of a NUL; `size`: bytes at `to`. The whole text's length; or -1, and
  // nothing but a NUL is sure to be written.
  int32_t Copy(uint64_t symbol, char* to, int32_t size) const;

  // ConstMethod::_orig_method_idnum is in no vmStructs. It follows what is declared before it:
  // _size_of_parameters, from JDK 19 on _num_stack_arg_slots. Where all of `klass`'s methods, none
  // of which may be an old version, have their _method_idnum there, too, it is found: its offset,
  // or -1. Needs a class of several methods.
  int FindOriginalIdNum(const VmStructs& structs, uint64_t klass) const;

 private:
  uint64_t TextAt(uint64_t pool, uint32_t index) const;
  bool HasTag(uint64_t pool, uint32_t index, uint8_t& tag) const;
  bool FlagsOf(const MethodView& method, uint32_t& flags) const;
  uint64_t ClassNameAt(uint64_t pool, uint32_t index) const;

  friend class LineNumbers;
  const MetadataLayout& l_;
  const MemoryReader& memory_;
};

// A method's line number table, entry by entry as the class file has them, which need not be by
// byte code.
class LineNumbers {
 public:
  // `metadata` must outlive it.
  LineNumbers(const Metadata& metadata, const MethodView& method);
  // False at the end, which comes early where memory does not hold what it should.
  bool Next(int32_t& start_bci, int32_t& line);

 private:
  NumberStream stream_;
  uint64_t end_;
  int32_t bci_ = 0, line_ = 0;
};

// The line of a byte code: of the first entry that begins at it, or of the last one of those that
// begin nearest before it, as stack traces have it. -1: unknown.
int32_t LineOf(const Metadata& metadata, const MethodView& method, int32_t bci);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_METADATA_H_
