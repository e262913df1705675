// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/method_table.h"

namespace walkhammer {
namespace {

constexpr int32_t kMostMethods = 65535;  // the limit of a class file
constexpr uint64_t kLeastAddress = 4096;

// Finds the number (_method_idnum) of the method whose id is `id`, by the ids alone: most classes
// that are asked do not have the id.
bool NumberOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass, uint64_t id,
                uint16_t& number) {
  uint64_t ids = 0, count = 0, found = 0;
  if (!memory.ReadWord(klass + table.ids, ids) || ids == 0 || !memory.ReadWord(ids, count) ||
      count > kMostMethods)
    return false;
  for (uint64_t i = 0; i < count; i++) {
    if (!memory.ReadWord(ids + 8 * (i + 1), found) || found != id) continue;
    number = static_cast<uint16_t>(i);
    return true;
  }
  return false;
}

}  // namespace

Result<MethodTable> ReadMethodTable(const VmStructs& structs) {
  MethodTable t{};
  StructReader read(structs);
  t.methods = read.Need("InstanceKlass", "_methods");
  t.ids = read.Need("InstanceKlass", "_methods_jmethod_ids");
  t.methods_data = read.Need("Array<Method*>", "_data");
  t.method_const = read.Need("Method", "_constMethod");
  t.const_idnum = read.Need("ConstMethod", "_method_idnum");
  t.const_pool = read.Need("ConstMethod", "_constants");
  t.pool_holder = read.Need("ConstantPool", "_pool_holder");
  RETURN_IF_ERROR(read.Complete());
  return t;
}

uint64_t PlaceOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                   uint16_t number) {
  uint64_t ids = 0, count = 0;
  return memory.ReadWord(klass + table.ids, ids) && ids != 0 && memory.ReadWord(ids, count) &&
                 number < count
             ? ids + 8 * (number + 1ULL)
             : 0;
}

uint64_t MethodOfNumber(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                        uint16_t number) {
  uint64_t methods = 0;
  int32_t count = 0;
  if (!memory.ReadWord(klass + table.methods, methods) || methods == 0 ||
      !memory.Read(methods, count) || count > kMostMethods)
    return 0;
  for (int32_t i = 0; i < count; i++) {
    uint64_t method = 0, const_method = 0;
    uint16_t found = 0;
    if (memory.ReadWord(methods + table.methods_data + 8ULL * i, method) && method != 0 &&
        memory.ReadWord(method + table.method_const, const_method) && const_method != 0 &&
        memory.Read(const_method + table.const_idnum, found) && found == number)
      return method;
  }
  return 0;
}

uint64_t MethodOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                    uint64_t id) {
  uint16_t number = 0;
  return klass != 0 && id != 0 && NumberOfId(table, memory, klass, id, number)
             ? MethodOfNumber(table, memory, klass, number)
             : 0;
}

bool IsKeptId(const MethodTable& table, const MemoryReader& memory, uint64_t id) {
  uint64_t method = 0, const_method = 0, pool = 0, holder = 0, kept = 0;
  uint16_t number = 0;
  // False for a value that is not a pointer.
  const auto follow = [&](uint64_t address, uint64_t& to) {
    return address >= kLeastAddress && (address & 7) == 0 && memory.ReadWord(address, to);
  };
  if (!follow(id, method) || !follow(method + table.method_const, const_method) ||
      !follow(const_method + table.const_pool, pool) || !follow(pool + table.pool_holder, holder) ||
      (const_method & 7) != 0 || !memory.Read(const_method + table.const_idnum, number))
    return false;
  const uint64_t place = PlaceOfId(table, memory, holder, number);
  return follow(place, kept) && kept == id;
}

}  // namespace walkhammer
