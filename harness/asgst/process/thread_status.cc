// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/thread_status.h"

#include <algorithm>
#include <iterator>

#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/java_fields.h"
#include "harness/jvm/structs/flags.h"

namespace walkhammer::asgst {
namespace {

constexpr int32_t kStatusRunnable = 5, kStatusTerminated = 2;
// JavaThreadStatus of javaThreadStatus.hpp: new, runnable, sleeping, in Object.wait and the same
// with time, parked and the same with time, blocked at a monitor, terminated.
constexpr int32_t kStatusValues[] = {0,     kStatusRunnable,  0x0e1, 0x191, 0x1a1, 0x291, 0x2a1,
                                     0x401, kStatusTerminated};

struct {
  int object = -1;          // JavaThread::_threadObj; -1: not known, as all else
  bool is_handle = false;   // an OopHandle, which points to the reference (JDK 14 and later)
  bool is_narrow = false;   // references in objects have 4 bytes
  bool is_colored = false;  // references have the colours of generational ZGC
  NarrowReferences narrow;
  int holder = -1;  // Thread.holder; -1: none before JDK 19
  int status = 0;   // threadStatus, in the holder or, before JDK 19, in the thread
} status_at;

bool FindFields(JNIEnv* env, int feature) {
  constexpr int kFirstWithHolder = 19, kMostReferences = 32;
  if (env->PushLocalFrame(kMostReferences) != JNI_OK) {
    env->ExceptionClear();
    return false;
  }
  jclass of = env->FindClass("java/lang/Thread");
  if (feature >= kFirstWithHolder) {
    status_at.holder = OffsetOfField(env, of, "holder", "Ljava/lang/Thread$FieldHolder;");
    of = env->FindClass("java/lang/Thread$FieldHolder");
    if (of == nullptr) env->ExceptionClear();
  }
  status_at.status = of == nullptr ? -1 : OffsetOfField(env, of, "threadStatus", "I");
  env->PopLocalFrame(nullptr);
  return status_at.status >= 0 && (feature < kFirstWithHolder || status_at.holder >= 0);
}

// The address in a reference. The low 16 bits of one of generational ZGC are its colour; of bits 12
// to 15 one is set, and on x86_64 the address begins above that one (zAddress.hpp, zAddress_x86).
uint64_t AddressIn(uint64_t reference) {
  if (!status_at.is_colored) return reference;
#ifdef __aarch64__
  return reference >> 16;
#else
  const uint64_t remapped = reference >> 12 & 15;
  return remapped == 0 ? 0 : reference >> (13 + __builtin_ctzll(remapped));
#endif
}

// Reads the reference in an object's field.
bool ReadField(const LiveMemory& memory, uint64_t object, int offset, uint64_t& found) {
  const uint64_t field = object + static_cast<uint64_t>(offset);
  if (!status_at.is_narrow) return memory.ReadWord(field, found);
  uint32_t narrow = 0;
  if (!memory.Read(field, narrow) || narrow == 0) return false;
  found = status_at.narrow.base + (static_cast<uint64_t>(narrow) << status_at.narrow.shift);
  return true;
}

struct References {
  uint64_t object = 0, holder = 0;
  bool operator==(const References&) const = default;
};

bool ReadReferences(const LiveMemory& memory, uint64_t thread, References& found) {
  uint64_t word = 0;
  if (!memory.ReadWord(thread + static_cast<uint64_t>(status_at.object), word) ||
      (status_at.is_handle && !memory.ReadWord(word, word)))
    return false;
  found.object = AddressIn(word);
  if (status_at.holder < 0) return found.object != 0;
  if (found.object == 0 || !ReadField(memory, found.object, status_at.holder, word)) return false;
  found.holder = AddressIn(word);
  return found.holder != 0;
}

}  // namespace

void FindThreadStatus(JNIEnv* env, const VmStructs& structs, int feature, uint64_t thread) {
  constexpr int kTries = 8;  // a collector may move the thread's object in between
  const auto object = structs.Offset("JavaThread", "_threadObj");
  status_at.object = -1;
  if (!object || !FindFields(env, feature)) return;
  status_at.is_handle = structs.FieldType("JavaThread", "_threadObj") == "OopHandle";
  status_at.is_narrow = BoolFlag(structs, "UseCompressedOops", false);
  status_at.is_colored = BoolFlag(structs, "UseZGC", false) &&
                         (feature >= 24 || BoolFlag(structs, "ZGenerational", false));
  if (status_at.is_narrow && !FindNarrowReferences(structs, status_at.narrow)) return;
  status_at.object = static_cast<int>(*object);
  for (int i = 0; i < kTries; i++)
    if (ThreadStatus(thread) == kStatusRunnable) return;
  status_at.object = -1;
}

int32_t ThreadStatus(uint64_t thread) {
  if (status_at.object < 0) return -1;
  constexpr int kTries = 4;
  const LiveMemory memory;
  for (int i = 0; i < kTries; i++) {
    References before, after;
    int32_t status = 0;
    if (ReadReferences(memory, thread, before) &&
        memory.Read((status_at.holder < 0 ? before.object : before.holder) +
                        static_cast<uint64_t>(status_at.status),
                    status) &&
        ReadReferences(memory, thread, after) && before == after &&
        std::find(std::begin(kStatusValues), std::end(kStatusValues), status) !=
            std::end(kStatusValues))
      return status;
  }
  return -1;
}

bool IsExiting(uint64_t thread) { return ThreadStatus(thread) == kStatusTerminated; }

}  // namespace walkhammer::asgst
