// MethodFacts: what a walk reads of a method. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_REFERENCE_METHOD_FACTS_H_
#define WALKHAMMER_HARNESS_REFERENCE_METHOD_FACTS_H_

#include <cstdint>

#include "harness/jvm/memory.h"
#include "harness/reference/layout.h"

namespace walkhammer {

struct MethodFacts {
  uint64_t const_method = 0;  // ConstMethod*
  uint64_t id = 0;            // jmethodID; 0: it never got one
  uint16_t code_size = 0;     // bytes of byte code
  bool is_native = false;
};
// False if there is no Method at that address.
bool ReadMethod(const WalkLayout& layout, const MemoryReader& memory, uint64_t method,
                MethodFacts& facts);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REFERENCE_METHOD_FACTS_H_
