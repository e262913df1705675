// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/method_facts.h"

namespace walkhammer::asgst {
namespace {

constexpr uint32_t kNativeFlag = 0x100;  // JVM_ACC_NATIVE

// The ConstMethod of a method, its class, and its number in that class.
struct MethodHead {
  uint64_t const_method = 0, holder = 0;
  uint16_t number = 0;
};

bool ReadHead(const WalkLayout& l, const MemoryReader& memory, uint64_t method, MethodHead& head) {
  constexpr uint64_t kLeastAddress = 4096;
  uint64_t pool = 0;
  return (method & 7) == 0 && method >= kLeastAddress &&
         memory.ReadWord(method + l.jvm.method_const, head.const_method) &&
         (head.const_method & 7) == 0 &&
         memory.ReadWord(head.const_method + l.table.const_pool, pool) && (pool & 7) == 0 &&
         memory.ReadWord(pool + l.table.pool_holder, head.holder) && head.holder != 0 &&
         memory.Read(head.const_method + l.table.const_idnum, head.number);
}

// True if both may be first words of Methods: they are equal, or both are known. A Method that
// comes from the CDS archive has another one than a Method that libjvm has made.
bool AreMethods(const WalkLayout& l, uint64_t word, uint64_t other) {
  const VirtualTables* known = l.method_tables;
  return word != 0 &&
         (word == other || (known != nullptr && known->Has(word) && known->Has(other)));
}

// True if a jmethodID is that of `method`; `now`: the Method* that it leads to. That is `method`
// or, once the class was redefined, its newest version: then both versions have the same class and
// number, and both or neither are native.
bool LeadsTo(const WalkLayout& l, const MemoryReader& memory, uint64_t method,
             const MethodHead& head, bool is_native, uint64_t now) {
  // An intrinsic of method handles is native, and numbered 0 in its class, but not among the
  // methods of the class: the id that the class keeps for number 0 is another method's.
  const bool may_be_intrinsic = head.number == 0 && is_native;
  if (now == method || may_be_intrinsic) return now == method;
  MethodHead newest;
  uint64_t table = 0, newest_table = 0;
  uint32_t flags = 0;
  return memory.ReadWord(method, table) && memory.ReadWord(now, newest_table) &&
         AreMethods(l, table, newest_table) && ReadHead(l, memory, now, newest) &&
         newest.holder == head.holder && newest.number == head.number &&
         memory.Read(now + l.access_flags, flags) && ((flags & kNativeFlag) != 0) == is_native;
}

void ReadId(const WalkLayout& l, const MemoryReader& memory, uint64_t method,
            const MethodHead& head, MethodFacts& facts) {
  const uint64_t place = PlaceOfId(l.table, memory, head.holder, head.number);
  uint64_t id = 0, now = 0;
  facts.id = facts.array_at = 0;
  if (place == 0 || !memory.ReadWord(place, id) || id == 0) return;
  if (l.ids_are_numbers)
    now = MethodOfNumber(l.table, memory, head.holder, head.number);
  else if (!memory.ReadWord(id, now))
    return;
  if (!LeadsTo(l, memory, method, head, facts.is_native, now)) return;
  if (l.ids_are_numbers) {
    facts.witness_at = place;
    facts.witness = id;
    facts.array_at = head.holder + static_cast<uint64_t>(l.table.ids);
    facts.array = place - 8 * (head.number + 1ULL);
  } else {
    facts.witness_at = id;
    facts.witness = method;
  }
  facts.id = id;
}

}  // namespace

bool ReadMethod(const WalkLayout& l, const MemoryReader& memory, uint64_t method,
                MethodFacts& facts) {
  MethodHead head;
  uint32_t flags = 0;
  if (!ReadHead(l, memory, method, head) ||
      !memory.Read(head.const_method + l.jvm.const_code_size, facts.code_size) ||
      !memory.Read(method + l.access_flags, flags))
    return false;
  facts.const_method = head.const_method;
  facts.number = head.number;
  facts.is_native = (flags & kNativeFlag) != 0;
  ReadId(l, memory, method, head, facts);
  return true;
}

}  // namespace walkhammer::asgst
