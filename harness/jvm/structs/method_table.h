// SPDX-License-Identifier: Apache-2.0
// MethodTable: from a class to its methods and their jmethodIDs. From JDK 26 on, a jmethodID is a
// number from a counter, not an address (JDK-8268406): the Method* of an id is then found through
// the class. Signal-safe: ReadMethodTable no; the rest yes, if the MemoryReader is.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_

#include <cstdint>

#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

inline constexpr int kFirstFeatureWithNumbers = 26;  // as jmethodIDs; JDK-8268406

// Byte offsets, from vmStructs.
struct MethodTable {
  int methods, ids;               // InstanceKlass::_methods, ::_methods_jmethod_ids
  int methods_data;               // Array<Method*>::_data; the array starts with an int, its length
  int method_const, const_idnum;  // Method::_constMethod, ConstMethod::_method_idnum
  int const_pool, pool_holder;    // ConstMethod::_constants, ConstantPool::_pool_holder
};

// kUnable with the name of a missing vmStructs entry.
Result<MethodTable> ReadMethodTable(const VmStructs& structs);

// The address at which the InstanceKlass at `klass` keeps the jmethodID of its method with this
// number (_method_idnum); 0 if it keeps none. With ids = [klass + table.ids]: [ids] = count of ids,
// address = ids + 8 * (number + 1).
uint64_t PlaceOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                   uint16_t number);

// The Method* with this number, of the newest version if the class was redefined; 0 if the
// InstanceKlass at `klass` has no such method. Takes time linear in the number of methods.
uint64_t MethodOfNumber(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                        uint16_t number);

// The Method* whose jmethodID is `id`, of the newest version if the class was redefined; 0 if the
// InstanceKlass at `klass` has no such method. Takes time linear in the number of methods.
uint64_t MethodOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                    uint64_t id);

// True if `id`, an address, leads to a method whose class keeps `id` as the method's jmethodID.
// False for any other word. `memory` must survive any address.
bool IsKeptId(const MethodTable& table, const MemoryReader& memory, uint64_t id);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_
