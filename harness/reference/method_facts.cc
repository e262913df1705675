#include "harness/reference/method_facts.h"

namespace walkhammer {
namespace {

constexpr uint32_t kNativeFlag = 0x100;  // JVM_ACC_NATIVE

// What stands at the head of a method, and in which class, under which number, it is.
struct MethodHead {
  uint64_t const_method = 0, holder = 0;
  uint16_t number = 0;
};

bool ReadHead(const WalkLayout& l, const MemoryReader& memory, uint64_t method, MethodHead& head) {
  constexpr uint64_t kLeastAddress = 4096;
  uint64_t pool = 0;
  return (method & 7) == 0 && method >= kLeastAddress &&
         memory.ReadWord(method + l.jvm.method_const, head.const_method) &&
         (head.const_method & 7) == 0 && memory.ReadWord(head.const_method + l.const_pool, pool) &&
         (pool & 7) == 0 && memory.ReadWord(pool + l.pool_holder, head.holder) &&
         head.holder != 0 && memory.Read(head.const_method + l.const_idnum, head.number);
}

uint64_t IdOf(const WalkLayout& l, const MemoryReader& memory, uint64_t method,
              const MethodHead& head) {
  uint64_t ids = 0, count = 0, id = 0, now = 0;
  // The ids of a class: how many, then each by its method's number.
  if (!memory.ReadWord(head.holder + l.jmethod_ids, ids) || ids == 0 ||
      !memory.ReadWord(ids, count) || head.number >= count ||
      !memory.ReadWord(ids + 8 * (head.number + 1ULL), id) || id == 0 || !memory.ReadWord(id, now))
    return 0;
  // A jmethodID is the address of a word that holds the Method*, or that of its newest version once
  // its class was redefined: then both have the same C++ virtual table.
  if (now == method) return id;
  MethodHead newest;
  uint64_t table = 0, newest_table = 0;
  return memory.ReadWord(method, table) && memory.ReadWord(now, newest_table) &&
                 table == newest_table && ReadHead(l, memory, now, newest) &&
                 newest.number == head.number
             ? id
             : 0;
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
  facts.is_native = (flags & kNativeFlag) != 0;
  facts.id = IdOf(l, memory, method, head);
  return true;
}

}  // namespace walkhammer
