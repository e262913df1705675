// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/live/methods.h"

#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>
#include <vector>

#include "harness/base/hash.h"

namespace walkhammer {
namespace {

constexpr uint32_t kOwnArenaBytes = 64 << 20;  // reserved; the kernel commits only pages in use
constexpr int kFreedBits = 25;  // freed ids are distinguished by so many bits of their hash
constexpr uint32_t kFreedBytes = (1U << kFreedBits) / 8;
constexpr uint8_t kSweepsKept = 4;  // sweeps for which an unloaded method stays

// True if `id` no longer leads to a method. HotSpot clears the word at a jmethodID: the word
// becomes null or a small number. With `jvmti`, ids are numbers, which JVMTI looks up in a table.
bool IsCleared(void* id, jvmtiEnv* jvmti) {
  if (jvmti == nullptr) return *static_cast<const uint64_t*>(id) < 4096;
  jboolean is_native = JNI_FALSE;
  return jvmti->IsMethodNative(static_cast<jmethodID>(id), &is_native) ==
         JVMTI_ERROR_INVALID_METHODID;
}

// The name without the digits of addresses: the name of a hidden class contains its address, so
// that "A$$Lambda/0x00007f..+0x.." would never repeat.
std::string WithoutAddresses(std::string_view name) {
  std::string out;
  for (size_t i = 0; i < name.size(); i++) {
    out += name[i];
    const bool is_separator = name[i] == '/' || name[i] == '.' || name[i] == '+';
    if (!is_separator || name.substr(i + 1, 2) != "0x") continue;
    out += "0x";
    i += 2;
    while (i + 1 < name.size() && std::isxdigit(static_cast<unsigned char>(name[i + 1])) != 0) i++;
  }
  return out;
}

// Zeroed memory, of which the kernel commits only pages in use; null if there is none.
void* Reserve(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

uint64_t FreedPlace(const void* id) { return PlaceOf(reinterpret_cast<uint64_t>(id), kFreedBits); }

uint32_t HashOf(const void* id) {
  return static_cast<uint32_t>(PlaceOf(reinterpret_cast<uint64_t>(id), 24));
}

// "Lpkg/Class;" -> "pkg.Class".
std::string ClassName(const char* signature) {
  std::string name(signature);
  if (name.size() >= 2 && name.front() == 'L' && name.back() == ';')
    name = name.substr(1, name.size() - 2);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

}  // namespace

bool StartsThreads(std::string_view name) {
  static constexpr std::string_view kEnds[] = {
      ".run()V", ".main([Ljava/lang/String;)V", ".<clinit>()V",
      ".appendToClassPathForInstrumentation(Ljava/lang/String;)V"};
  // KlassReader, and so libasgst, calls Unsafe.getLong. Before main, libinstrument calls what
  // agents in Java need, and makes an InternalError.
  static constexpr std::string_view kBegins[] = {"sun.launcher.LauncherHelper.",
                                                 "java.lang.Thread.<init>",
                                                 "java.lang.Thread.exit()",
                                                 "java.lang.Thread.dispatchUncaughtException(",
                                                 "java.lang.Shutdown.",
                                                 "java.lang.System.initPhase",
                                                 "java.lang.ThreadGroup.",
                                                 "java.lang.ref.Finalizer.",
                                                 "sun.misc.Unsafe.getLong(",
                                                 "jdk.internal.misc.Unsafe.getLong(",
                                                 "sun.instrument.",
                                                 "java.lang.InternalError.<init>("};
  for (std::string_view end : kEnds)
    if (name.ends_with(end)) return true;
  for (std::string_view begin : kBegins)
    if (name.starts_with(begin)) return true;
  return false;
}

MethodRegistry::MethodRegistry(NameArena arena)
    : entries_(new MethodEntry[kCapacity]),
      freed_ids_(static_cast<std::atomic<uint8_t>*>(Reserve(kFreedBytes))),
      arena_(arena) {
  if (arena_.memory != nullptr) return;
  static char no_memory[1];
  auto* memory = static_cast<char*>(Reserve(kOwnArenaBytes));
  own_arena_ = memory != nullptr;
  arena_ = own_arena_ ? NameArena{memory, kOwnArenaBytes} : NameArena{no_memory, 1};
}

MethodRegistry::~MethodRegistry() {
  if (own_arena_) munmap(arena_.memory, arena_.size);
  if (freed_ids_ != nullptr) munmap(static_cast<void*>(freed_ids_), kFreedBytes);
}

const char* MethodRegistry::KeepLocked(std::string_view name) {
  if (auto known = names_.find(name); known != names_.end()) return known->data();
  if (name.size() + 1 > arena_.size - arena_used_) return arena_.memory;
  char* place = arena_.memory + arena_used_;
  std::memcpy(place, name.data(), name.size());
  arena_used_ += static_cast<uint32_t>(name.size()) + 1;
  names_.emplace(place, name.size());
  return place;
}

const char* MethodRegistry::Keep(std::string_view name) {
  std::lock_guard<std::mutex> lock(mutex_);
  return KeepLocked(name);
}

void MethodRegistry::Add(void* id, const std::string& name, int32_t code_size, bool is_native,
                         uint64_t holder) {
  if (Find(id) != nullptr) return;
  if (used_ >= kMostMethods) {
    unknown_.fetch_add(1);
    return;
  }
  uint32_t at = HashOf(id) & (kCapacity - 1), far = 0;
  for (; entries_[at].id.load() != nullptr && entries_[at].id.load() != kGivenUp; far++)
    at = (at + 1) & (kCapacity - 1);
  if (far > farthest_.load()) farthest_.store(far);
  MethodEntry& entry = entries_[at];
  entry.name = KeepLocked(WithoutAddresses(name));
  entry.name_hash = kFnvBegin32;
  for (const char* c = entry.name; *c != 0; c++)
    entry.name_hash = Fnv1a32(entry.name_hash, static_cast<uint8_t>(*c));
  entry.code_size = code_size;
  entry.holder = holder;
  entry.is_native = is_native;
  entry.unloaded.store(false);
  entry.starts_threads.store(StartsThreads(name));
  entry.shadow_id.store(0);
  entry.sweeps_unloaded = 0;
  entry.id.store(id, std::memory_order_release);
  used_++;
  if (on_add != nullptr) on_add(entry);
}

void MethodRegistry::SweepUnloaded(jvmtiEnv* jvmti) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (uint32_t i = 0; i < kCapacity; i++) {
    MethodEntry& entry = entries_[i];
    void* id = entry.id.load(std::memory_order_relaxed);
    if (id == nullptr || id == kGivenUp || !IsCleared(id, jvmti)) continue;
    entry.unloaded.store(true, std::memory_order_relaxed);
    if (++entry.sweeps_unloaded <= kSweepsKept) continue;
    if (freed_ids_ != nullptr)
      freed_ids_[FreedPlace(id) / 8].fetch_or(static_cast<uint8_t>(1 << FreedPlace(id) % 8));
    entry.id.store(kGivenUp, std::memory_order_release);  // null would end other searches
    used_--;
  }
}

void MethodRegistry::Add(jvmtiEnv* jvmti, const std::string& class_name, jmethodID id,
                         uint64_t holder) {
  if (Find(id) != nullptr) return;
  char* name = nullptr;
  char* signature = nullptr;
  if (jvmti->GetMethodName(id, &name, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  std::string full_name = class_name + "." + name + signature;
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(name));
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
  jboolean is_native = JNI_FALSE;
  jvmti->IsMethodNative(id, &is_native);
  jlocation start = 0, end = -1;
  if (is_native == JNI_FALSE) jvmti->GetMethodLocation(id, &start, &end);
  Add(id, full_name, static_cast<int32_t>(end + 1), is_native == JNI_TRUE, holder);
}

void MethodRegistry::AddClass(jvmtiEnv* jvmti, jclass klass, uint64_t holder) {
  jint count = 0;
  jmethodID* ids = nullptr;
  char* signature = nullptr;
  if (jvmti->GetClassSignature(klass, &signature, nullptr) != JVMTI_ERROR_NONE) return;
  if (jvmti->GetClassMethods(klass, &count, &ids) == JVMTI_ERROR_NONE) {
    std::string class_name = ClassName(signature);
    std::lock_guard<std::mutex> lock(mutex_);
    for (jint i = 0; i < count; i++) Add(jvmti, class_name, ids[i], holder);
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(ids));
  }
  jvmti->Deallocate(reinterpret_cast<unsigned char*>(signature));
}

void MethodRegistry::MarkUnloaded(const char* vm_name) {
  const std::string class_name = ClassName(vm_name);
  std::lock_guard<std::mutex> lock(mutex_);
  std::vector<MethodEntry*> methods;
  for (uint32_t i = 0; i < kCapacity; i++) {
    MethodEntry& entry = entries_[i];
    void* id = entry.id.load();
    if (id == nullptr || id == kGivenUp || entry.unloaded.load()) continue;
    const std::string_view name = entry.name;
    if (name.starts_with(class_name) && name.rfind('.', name.find('(')) == class_name.size())
      methods.push_back(&entry);
  }
  const bool is_one_class = std::all_of(methods.begin(), methods.end(), [&](const auto* method) {
    return method->holder == methods.front()->holder;
  });
  if (!is_one_class) return;
  for (MethodEntry* method : methods) method->unloaded.store(true);
}

void MethodRegistry::MarkStartsThreads(const void* id) {
  const MethodEntry* entry = Find(id);
  if (entry != nullptr) const_cast<MethodEntry*>(entry)->starts_threads.store(true);
}

const MethodEntry* MethodRegistry::Find(const void* id) const {
  if (id == nullptr || id == kGivenUp) return nullptr;
  const uint32_t farthest = farthest_.load(std::memory_order_relaxed);
  uint32_t at = HashOf(id) & (kCapacity - 1);
  for (uint32_t far = 0; far <= farthest; far++, at = (at + 1) & (kCapacity - 1)) {
    const void* here = entries_[at].id.load(std::memory_order_acquire);
    if (here == id) return &entries_[at];
    if (here == nullptr) return nullptr;
  }
  return nullptr;
}

bool MethodRegistry::MayBeFreed(const void* id) const {
  const uint64_t place = FreedPlace(id);
  return freed_ids_ != nullptr && (freed_ids_[place / 8].load() >> place % 8 & 1) != 0;
}

void MethodRegistry::SetShadowId(const void* id, uint16_t shadow_id) {
  const MethodEntry* entry = Find(id);
  if (entry != nullptr) const_cast<MethodEntry*>(entry)->shadow_id.store(shadow_id);
}

int FramesText(const Trace& trace, int most, const MethodRegistry& methods, char* text,
               size_t size) {
  size_t at = 0;
  const int frames = std::min(trace.num_frames, most);
  for (int i = 0; i < frames; i++) {
    const Frame& frame = trace.frames[i];
    const MethodEntry* method = methods.Find(frame.method);
    const int written =
        std::snprintf(text + at, size - at, "%s%s @ %d", i == 0 ? "" : "\n",
                      method == nullptr ? "(unknown method)" : method->name, frame.bci);
    if (written < 0 || at + static_cast<size_t>(written) >= size) return i;
    at += static_cast<size_t>(written);
  }
  return std::max(frames, 0);
}

}  // namespace walkhammer
