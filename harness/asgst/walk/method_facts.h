// SPDX-License-Identifier: Apache-2.0
// MethodFacts: what a walk reads of a method. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_METHOD_FACTS_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_METHOD_FACTS_H_

#include <cstdint>

#include "harness/asgst/walk/layout.h"
#include "harness/jvm/structs/memory.h"

namespace walkhammer::asgst {

struct MethodFacts {
  uint64_t const_method = 0;  // ConstMethod*
  uint64_t id = 0;            // jmethodID; 0: it never got one
  // `id` is the method's as long as [witness_at] = witness and, if array_at is not 0,
  // [array_at] = array. Where ids are numbers, witness_at is in an array of the class, and
  // [array_at] = array says that the class still has this array. (After unloading, the array may
  // stay in freed memory for long, while a class of the same shape has the method's address.)
  uint64_t witness_at = 0, witness = 0;
  uint64_t array_at = 0, array = 0;
  // The method's number in its class. A redefined method gets another one, which matters where ids
  // are numbers: there the former version keeps its place, and the new one has the id.
  uint16_t number = 0;
  uint16_t code_size = 0;  // bytes of bytecode
  bool is_native = false;
};
// Reads the facts of the Method at `method`. False if there is none.
bool ReadMethod(const WalkLayout& layout, const MemoryReader& memory, uint64_t method,
                MethodFacts& facts);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_METHOD_FACTS_H_
