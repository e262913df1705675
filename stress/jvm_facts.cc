// SPDX-License-Identifier: Apache-2.0
#include "stress/jvm_facts.h"

#include <atomic>

#include "harness/guard/guard.h"

namespace walkhammer::stress {
namespace {

Jvm* the_jvm = nullptr;

// Where methods keep their bytecode, as vmStructs says.
JvmLayout layout;
int const_method_bytes = 0;

// Runs `read` with the id, in a handler, after a walk. Does not run it for an id that the registry
// does not know: a walker may answer anything. What a known id leads to goes with its class, maybe
// at this moment: `read` may fault.
template <typename Read>
void ReadMethod(void* method_id, Read read) {
  const MethodEntry* entry = the_jvm->methods().Find(method_id);
  GuardSlot* slot = CurrentGuardSlot();
  if (entry == nullptr || entry->unloaded.load(std::memory_order_relaxed) || slot == nullptr)
    return;
  Contained(*slot, [&] { read(the_jvm->MethodOf(static_cast<jmethodID>(method_id))); });
}

uint64_t MethodOf(void* method_id) {
  uint64_t method = 0;
  ReadMethod(method_id, [&](uint64_t found) { method = found; });
  return method;
}

std::atomic<bool> classes_are_missing{false};  // from the method registry

bool Keeps(void* method_id) {
  const Jvm& jvm = *the_jvm;
  if (!jvm.has_structs()) {  // its tables are not known: the id may be of a class loaded without an
                             // event
    classes_are_missing.store(true, std::memory_order_relaxed);
    return true;
  }
  const bool keeps = jvm.Keeps(static_cast<jmethodID>(method_id));
  // Where ids are numbers, only the registry knows, after AddLoadedClasses.
  if (keeps || jvm.ids_are_numbers()) classes_are_missing.store(true, std::memory_order_relaxed);
  return keeps;
}

// The value at `offset` of the id's ConstMethod; -1: the id leads to no method any more.
template <typename Value>
int ConstMethodHas(void* method_id, int offset) {
  int value = -1;
  ReadMethod(method_id, [&](uint64_t method) {
    if (method < 4096) return;
    const auto constant =
        *reinterpret_cast<uint64_t*>(method + static_cast<uint64_t>(layout.method_const));
    value = *reinterpret_cast<Value*>(constant + static_cast<uint64_t>(offset));
  });
  return value;
}

int CodeSizeOf(void* method_id) {
  return ConstMethodHas<uint16_t>(method_id, layout.const_code_size);
}

int ByteCodeAt(void* method_id, int bci) {
  return ConstMethodHas<uint8_t>(method_id, const_method_bytes + bci);
}

}  // namespace

SampleFacts FactsOfSamples(Jvm& jvm) {
  the_jvm = &jvm;
  SampleFacts facts{};
  facts.keeps = Keeps;
  if (!jvm.has_structs()) return facts;
  layout = jvm.layout();
  const_method_bytes = static_cast<int>(jvm.structs().SizeOf("ConstMethod").value_or(0));
  facts.method_of = MethodOf;
  if (const auto* back = static_cast<const uint64_t*>(
          jvm.structs().Static("StubRoutines", "_call_stub_return_address")))
    facts.call_stub_return = *back;
  if (const_method_bytes > 0) {
    facts.byte_code = ByteCodeAt;
    facts.code_size = CodeSizeOf;
  }
  return facts;
}

bool IsNativeMethod(void* method_id) {
  const MethodEntry* entry = the_jvm->methods().Find(method_id);
  return entry != nullptr && entry->is_native;
}

bool TakeClassesAreMissing() { return classes_are_missing.exchange(false); }

}  // namespace walkhammer::stress
