// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/stack_chunks.h"

#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/java_fields.h"
#include "harness/jvm/structs/flags.h"
#include "harness/jvm/structs/klass_reader.h"

namespace walkhammer::asgst {
namespace {

constexpr int kFirstFeature = 21;
constexpr char kChunk[] = "jdk/internal/vm/StackChunk",
               kContinuation[] = "jdk/internal/vm/Continuation";

// The stack comes after the fields of the class, HotSpot's own included, whose size is
// [klass + _layout_helper] but for the lowest bits (InstanceStackChunkKlass::offset_of_stack).
bool FindStack(const VmStructs& structs, uint64_t chunk, ChunkLayout& found) {
  const auto at = structs.Offset("Klass", "_layout_helper");
  int32_t bytes = 0;
  if (!at || chunk == 0 || !LiveMemory().Read(chunk + *at, bytes) || bytes <= 0) return false;
  found.stack = bytes & ~7;
  return true;
}

// False if one is missing.
bool FindFields(JNIEnv* env, jclass continuation, jclass chunk, ChunkLayout& found) {
  const char* const type = "Ljdk/internal/vm/StackChunk;";
  found.tail = OffsetOfField(env, continuation, "tail", type);
  found.parent = OffsetOfField(env, chunk, "parent", type);
  found.size = OffsetOfField(env, chunk, "size", "I");
  found.sp = OffsetOfField(env, chunk, "sp", "I");
  found.bottom = OffsetOfField(env, chunk, "bottom", "I");
  return found.tail > 0 && found.parent > 0 && found.size > 0 && found.sp > 0 && found.bottom > 0;
}

// Method* of Continuation.doYield; 0: not known.
uint64_t YieldMethod(JNIEnv* env, const WalkLayout& layout, jclass continuation, uint64_t klass) {
  jmethodID id = env->GetStaticMethodID(continuation, "doYield", "()I");
  if (id == nullptr) env->ExceptionClear();
  return id == nullptr
             ? 0
             : MethodOfId(layout.table, LiveMemory(), klass, reinterpret_cast<uint64_t>(id));
}

bool Find(JNIEnv* env, const VmStructs& structs, const WalkLayout& layout, ChunkLayout& found) {
  jclass chunk = env->FindClass(kChunk);
  jclass continuation = chunk == nullptr ? nullptr : env->FindClass(kContinuation);
  if (continuation == nullptr) {
    env->ExceptionClear();
    return false;
  }
  const auto klasses = KlassReader::Open(env, structs);
  NarrowReferences narrow;
  found.is_narrow = BoolFlag(structs, "UseCompressedOops", false);
  if (!klasses.ok() || (found.is_narrow && !FindNarrowReferences(structs, narrow)) ||
      !FindFields(env, continuation, chunk, found) ||
      !FindStack(structs, klasses.value().Read(env, chunk), found))
    return false;
  found.narrow_base = narrow.base;
  found.narrow_shift = narrow.shift;
  found.yield = YieldMethod(env, layout, continuation, klasses.value().Read(env, continuation));
  return true;
}

}  // namespace

void FindStackChunks(JNIEnv* env, const VmStructs& structs, WalkLayout& layout) {
  constexpr int kMostReferences = 64;
  const std::string collector = CollectorName(structs);
  const bool holds_still = collector == "Serial" || collector == "Parallel" || collector == "G1";
  if (layout.feature < kFirstFeature || !holds_still) return;
  if (env->PushLocalFrame(kMostReferences) != JNI_OK) {
    env->ExceptionClear();
    return;
  }
  ChunkLayout found = layout.chunks;
  if (Find(env, structs, layout, found)) layout.chunks = found;
  env->PopLocalFrame(nullptr);
}

}  // namespace walkhammer::asgst
