// SPDX-License-Identifier: Apache-2.0
// MethodTable: from a class to its methods and their jmethodIDs. From JDK 26 on a jmethodID is a
// number from a counter, no address (JDK-8268406): a Method* is then found by its id through its
// class. Signal-safe: ReadMethodTable no; the rest yes, where its memory is.
#ifndef WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_
#define WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_

#include <cstdint>

#include "harness/base/result.h"
#include "harness/jvm/structs/memory.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

inline constexpr int kFirstFeatureWithNumbers = 26;  // of jmethodIDs; JDK-8268406

// Byte offsets, from vmStructs.
struct MethodTable {
  int methods, ids;               // InstanceKlass::_methods, ::_methods_jmethod_ids
  int methods_data;               // Array<Method*>::_data; an int, how many, comes first
  int method_const, const_idnum;  // Method::_constMethod, ConstMethod::_method_idnum
  int const_pool, pool_holder;    // ConstMethod::_constants, ConstantPool::_pool_holder
};

// kUnable with the name of a vmStructs entry that is missing.
Result<MethodTable> ReadMethodTable(const VmStructs& structs);

// Where an InstanceKlass keeps the jmethodID of its method with that number: the first word of
// _methods_jmethod_ids tells how many follow, each by its method's number. 0: it keeps none.
uint64_t PlaceOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                   uint16_t number);

// The Method* whose jmethodID is `id`, the newest version where the class was redefined; 0 if the
// InstanceKlass at `klass` has none. Takes a step for each of its methods.
uint64_t MethodOfId(const MethodTable& table, const MemoryReader& memory, uint64_t klass,
                    uint64_t id);

// True if `id`, an address, leads to a method whose class keeps it as that method's jmethodID.
// False for any other word, where `memory` survives it.
bool IsKeptId(const MethodTable& table, const MemoryReader& memory, uint64_t id);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_STRUCTS_METHOD_TABLE_H_
