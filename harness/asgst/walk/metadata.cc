// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/metadata.h"

#include <algorithm>

namespace walkhammer::asgst {
namespace {

constexpr uint64_t kLeastAddress = 4096;
constexpr int32_t kMostShorts = 65535;  // limit of all counts in a class file
// Limit of a ConstMethod's words: 64 KiB of bytecode, and tables of as many entries.
constexpr int32_t kMostWords = 1 << 19;
constexpr uint8_t kText = 1;  // JVM_CONSTANT_Utf8

bool IsAddress(uint64_t address) { return (address & 7) == 0 && address >= kLeastAddress; }

void ReadConstMethod(StructReader& read, const VmStructs& structs, MetadataLayout& l) {
  l.pool = read.Need("ConstMethod", "_constants");
  l.words = read.Need("ConstMethod", "_constMethod_size");
  l.code_size = read.Need("ConstMethod", "_code_size");
  l.name_index = read.Need("ConstMethod", "_name_index");
  l.signature_index = read.Need("ConstMethod", "_signature_index");
  l.header_bytes = static_cast<int>(structs.SizeOf("ConstMethod").value_or(0));
  l.original_idnum = -1;
  // JDK 21 gave the flags a structure of their own.
  const bool own = structs.Offset("ConstMethod", "_flags._flags").has_value();
  l.flags = read.Optional("ConstMethod", own ? "_flags._flags" : "_flags");
  const std::string prefix = own ? "ConstMethodFlags::_misc_" : "ConstMethod::_";
  const auto bit = [&](const char* name) {
    const auto found = structs.Constant(prefix + name);
    if (!found) l.flags = -1;
    return static_cast<uint32_t>(found.value_or(0));
  };
  l.has_lines = bit("has_linenumber_table");
  l.has_generic = bit("has_generic_signature");
  l.annotations[0] = bit("has_method_annotations");
  l.annotations[1] = bit("has_parameter_annotations");
  l.annotations[2] = bit("has_type_annotations");
  l.annotations[3] = bit("has_default_annotations");
}

void ReadClass(StructReader& read, MetadataLayout& l) {
  l.layout_helper = read.Need("Klass", "_layout_helper");
  l.class_name = read.Need("Klass", "_name");
  l.class_flags = read.Need("Klass", "_access_flags", "InstanceKlass");  // JDK 26 and later
  l.class_pool = read.Need("InstanceKlass", "_constants");
  l.methods = read.Need("InstanceKlass", "_methods");
  l.inner_classes = read.Optional("InstanceKlass", "_inner_classes");
}

}  // namespace

Result<MetadataLayout> ReadMetadataLayout(const VmStructs& structs, int feature) {
  MetadataLayout l{};
  StructReader read(structs);
  l.method_const = read.Need("Method", "_constMethod");
  l.method_flags = read.Need("Method", "_access_flags");
  ReadConstMethod(read, structs, l);
  ReadClass(read, l);
  l.pool_tags = read.Need("ConstantPool", "_tags");
  l.pool_holder = read.Need("ConstantPool", "_pool_holder");
  l.pool_length = read.Need("ConstantPool", "_length");
  l.pool_generic = read.Optional("ConstantPool", "_generic_signature_index");
  l.pool_bytes = static_cast<int>(structs.SizeOf("ConstantPool").value_or(0));
  l.bytes_data = read.Need("Array<u1>", "_data");
  l.shorts_data = read.Need("Array<u2>", "_data");
  l.methods_data = read.Need("Array<Method*>", "_data");
  l.symbol_length = read.Need("Symbol", "_length");
  l.symbol_body = read.Need("Symbol", "_body");
  l.null_free_numbers = feature >= 20;
  RETURN_IF_ERROR(read.Complete());
  if (l.header_bytes == 0 || l.pool_bytes == 0)
    return Unable("this libjvm's vmStructs do not tell how large a ConstMethod or ConstantPool is");
  return l;
}

bool Metadata::Open(uint64_t method, MethodView& view) const {
  int32_t words = 0;
  uint16_t code_size = 0;
  view.method = method;
  if (!IsAddress(method) || !memory_.ReadWord(method, view.vtable) ||
      !memory_.ReadWord(method + l_.method_const, view.const_method) ||
      !IsAddress(view.const_method) || !memory_.ReadWord(view.const_method + l_.pool, view.pool) ||
      !IsAddress(view.pool) || !memory_.ReadWord(view.pool + l_.pool_holder, view.holder) ||
      !IsAddress(view.holder) || !memory_.Read(view.const_method + l_.words, words) ||
      !memory_.Read(view.const_method + l_.code_size, code_size))
    return false;
  if (words <= 0 || words > kMostWords) return false;
  view.code_end = view.const_method + l_.header_bytes + code_size;
  view.end = view.const_method + 8ULL * static_cast<uint32_t>(words);
  return view.code_end <= view.end;
}

bool Metadata::HasTag(uint64_t pool, uint32_t index, uint8_t& tag) const {
  int32_t length = 0;
  uint64_t tags = 0;
  return index != 0 && IsAddress(pool) && memory_.Read(pool + l_.pool_length, length) &&
         static_cast<int64_t>(index) < length && memory_.ReadWord(pool + l_.pool_tags, tags) &&
         IsAddress(tags) && memory_.Read(tags + l_.bytes_data + index, tag);
}

uint64_t Metadata::TextAt(uint64_t pool, uint32_t index) const {
  uint8_t tag = 0;
  uint64_t symbol = 0;
  return HasTag(pool, index, tag) && tag == kText &&
                 memory_.ReadWord(pool + l_.pool_bytes + 8ULL * index, symbol)
             ? symbol
             : 0;
}

// A class entry holds two 16-bit numbers: the index of the resolved class and, in the upper half,
// that of its name.
uint64_t Metadata::ClassNameAt(uint64_t pool, uint32_t index) const {
  uint8_t tag = 0;
  uint32_t numbers = 0;
  return HasTag(pool, index, tag) && memory_.Read(pool + l_.pool_bytes + 8ULL * index, numbers)
             ? TextAt(pool, numbers >> 16)
             : 0;
}

uint64_t Metadata::TextByIndexAt(uint64_t address, uint64_t pool) const {
  uint16_t index = 0;
  return memory_.Read(address, index) ? TextAt(pool, index) : 0;
}

uint64_t Metadata::NameOf(const MethodView& method) const {
  return TextByIndexAt(method.const_method + l_.name_index, method.pool);
}

uint64_t Metadata::SignatureOf(const MethodView& method) const {
  return TextByIndexAt(method.const_method + l_.signature_index, method.pool);
}

// JDK 17 to 20 keep 16 bits of flags, later JDKs 32; all flags that are used here are in the lower
// 16.
bool Metadata::FlagsOf(const MethodView& method, uint32_t& flags) const {
  uint16_t low = 0;
  if (l_.flags < 0 || !memory_.Read(method.const_method + l_.flags, low)) return false;
  flags = low;
  return true;
}

// The index of the generic signature is last in a ConstMethod, right before the addresses of
// annotations.
uint64_t Metadata::GenericSignatureOf(const MethodView& method) const {
  uint32_t flags = 0;
  if (!FlagsOf(method, flags) || (flags & l_.has_generic) == 0) return 0;
  uint64_t end = method.end;
  for (const uint32_t bit : l_.annotations)
    if ((flags & bit) != 0) end -= 8;
  return end >= method.code_end + 2 ? TextByIndexAt(end - 2, method.pool) : 0;
}

// AccessFlags have 32 bits, from JDK 25 on 16; the flags of the class file are the lower ones.
int32_t Metadata::ModifiersOf(const MethodView& method) const {
  constexpr uint16_t kOfMethods = 0x1dff;  // JVM_RECOGNIZED_METHOD_MODIFIERS
  uint16_t flags = 0;
  return memory_.Read(method.method + l_.method_flags, flags) ? flags & kOfMethods : -1;
}

// Reads _orig_method_idnum, which obsolete versions keep; their _method_idnum becomes a new number.
int32_t Metadata::IdNumOf(const MethodView& method) const {
  uint16_t number = 0;
  return l_.original_idnum >= 0 && memory_.Read(method.const_method + l_.original_idnum, number)
             ? number
             : -1;
}

// Array classes have a negative _layout_helper.
bool Metadata::IsInstanceClass(uint64_t klass) const {
  int32_t helper = 0;
  return IsAddress(klass) && memory_.Read(klass + l_.layout_helper, helper) && helper > 0;
}

bool Metadata::OwnsItsPool(uint64_t klass) const {
  uint64_t pool = 0, holder = 0;
  return IsAddress(klass) && memory_.ReadWord(klass + l_.class_pool, pool) && IsAddress(pool) &&
         memory_.ReadWord(pool + l_.pool_holder, holder) && holder == klass;
}

uint64_t Metadata::NameOfClass(uint64_t klass) const {
  uint64_t symbol = 0;
  return IsAddress(klass) && memory_.ReadWord(klass + l_.class_name, symbol) ? symbol : 0;
}

uint64_t Metadata::GenericSignatureOfClass(uint64_t klass) const {
  uint64_t pool = 0;
  return l_.pool_generic >= 0 && IsAddress(klass) &&
                 memory_.ReadWord(klass + l_.class_pool, pool) && IsAddress(pool)
             ? TextByIndexAt(pool + l_.pool_generic, pool)
             : 0;
}

int32_t Metadata::ModifiersOfClass(uint64_t klass) const {
  // JVM_ACC_WRITTEN_FLAGS without JVM_ACC_SUPER, which is not a modifier
  constexpr uint16_t kOfClasses = 0x7fff & ~0x20;
  constexpr int kEntry = 4;  // inner class, outer class, name, flags: each a u2
  uint16_t flags = 0;
  uint64_t pool = 0, inner = 0;
  int32_t count = 0;
  const uint64_t name = NameOfClass(klass);
  if (name == 0 || l_.inner_classes < 0 || !memory_.Read(klass + l_.class_flags, flags) ||
      !memory_.ReadWord(klass + l_.class_pool, pool) ||
      !memory_.ReadWord(klass + l_.inner_classes, inner) || !IsAddress(inner) ||
      !memory_.Read(inner, count))
    return -1;
  // Two numbers may follow the entries: the enclosing method.
  count = std::min(count, kEntry * kMostShorts + 2);
  const uint64_t entries = inner + l_.shorts_data;
  for (int32_t i = 0; i + kEntry <= count; i += kEntry) {
    uint16_t index = 0;
    if (!memory_.Read(entries + 2ULL * i, index)) return -1;
    if (index != 0 && ClassNameAt(pool, index) == name) {
      if (!memory_.Read(entries + 2ULL * (i + 3), flags)) return -1;
      break;
    }
  }
  return flags & kOfClasses;
}

uint64_t Metadata::MethodsOfClass(uint64_t klass, int& count) const {
  uint64_t methods = 0;
  int32_t found = 0;
  count = 0;
  if (!IsAddress(klass) || !memory_.ReadWord(klass + l_.methods, methods) || !IsAddress(methods) ||
      !memory_.Read(methods, found) || found < 0 || found > kMostShorts)
    return 0;
  count = found;
  return methods;
}

uint64_t Metadata::MethodAt(uint64_t methods, int index) const {
  uint64_t method = 0;
  return memory_.ReadWord(methods + l_.methods_data + 8ULL * index, method) ? method : 0;
}

int32_t Metadata::Copy(uint64_t symbol, char* to, int32_t size) const {
  uint16_t whole = 0;
  int32_t length = IsAddress(symbol) && memory_.Read(symbol + l_.symbol_length, whole) ? whole : -1;
  const int32_t copied = std::min(length, std::max(size, 1) - 1);
  if (length >= 0 && copied > 0 &&
      !memory_.ReadBytes(symbol + l_.symbol_body, reinterpret_cast<uint8_t*>(to), copied))
    length = -1;
  if (size > 0) to[length < 0 ? 0 : copied] = '\0';
  return length;
}

int Metadata::FindOriginalIdNum(const VmStructs& structs, uint64_t klass) const {
  const auto parameters = structs.Offset("ConstMethod", "_size_of_parameters");
  const auto first = structs.Offset("ConstMethod", "_method_idnum");
  int count = 0;
  const uint64_t methods = MethodsOfClass(klass, count);
  if (!parameters || !first || count < 2) return -1;
  for (int offset = *parameters + 2; offset + 2 <= l_.header_bytes; offset += 2) {
    int same = 0;
    for (int i = 0; i < count; i++) {
      MethodView method;
      uint16_t number = 0, original = 0;
      if (Open(MethodAt(methods, i), method) &&
          memory_.Read(method.const_method + *first, number) &&
          memory_.Read(method.const_method + offset, original) && number == original)
        same++;
    }
    if (same == count) return offset;
  }
  return -1;
}

// --- lines ---

LineNumbers::LineNumbers(const Metadata& metadata, const MethodView& method)
    : stream_(metadata.memory_, metadata.l_.null_free_numbers, method.code_end), end_(method.end) {
  uint32_t flags = 0;
  if (!metadata.FlagsOf(method, flags) || (flags & metadata.l_.has_lines) == 0) end_ = 0;
}

// Each entry is the difference to the one before: a byte with five bits for the bytecode and three
// for the line; or 255 and two signed numbers. A zero byte ends the table.
bool LineNumbers::Next(int32_t& start_bci, int32_t& line) {
  constexpr uint8_t kLong = 255;
  uint8_t byte = 0;
  int32_t bci_step = 0, line_step = 0;
  if (stream_.at() >= end_ || !stream_.Byte(byte) || byte == 0) return false;
  if (byte == kLong) {
    if (!stream_.Signed(bci_step) || !stream_.Signed(line_step)) return false;
  } else {
    bci_step = byte >> 3;
    line_step = byte & 7;
  }
  // Both are u2 in a class file; what does not fit is damage.
  start_bci = bci_ += std::clamp(bci_step, -kMostShorts, kMostShorts);
  line = line_ += std::clamp(line_step, -kMostShorts, kMostShorts);
  return bci_ >= 0 && bci_ <= kMostShorts && line_ >= 0 && line_ <= kMostShorts;
}

int32_t LineOf(const Metadata& metadata, const MethodView& method, int32_t bci) {
  if (bci < 0 || bci >= metadata.CodeSizeOf(method)) return -1;
  int32_t best_bci = -1, best = -1, start = 0, line = 0;
  for (LineNumbers lines(metadata, method); lines.Next(start, line);) {
    if (start == bci) return line;
    if (start < bci && start >= best_bci) {
      best_bci = start;
      best = line;
    }
  }
  return best;
}

}  // namespace walkhammer::asgst
