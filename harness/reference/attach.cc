#include "harness/reference/attach.h"

#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "harness/guard/arch.h"
#include "harness/jvm/elf_functions.h"
#include "harness/jvm/flags.h"

namespace walkhammer {
namespace {

using SafeFetch = uint64_t (*)(const uint64_t* address, uint64_t otherwise);

WalkLayout layout;
WalkStart::Caches caches;
std::atomic<bool> attached{false};
pthread_key_t thread_key;
SafeFetch safe_fetch = nullptr;
uint64_t guard_zone = 0;

template <typename T>
T At(uint64_t address) {
  return *reinterpret_cast<const T*>(address);
}

// The current thread among those of the JVM. Of no use in a signal handler: the list may change.
uint64_t FindCurrentThread(const VmStructs& structs) {
  StructReader read(structs);
  auto* list = read.NeedStatic("ThreadsSMRSupport", "_java_thread_list");
  const int length = read.Need("ThreadsList", "_length");
  const int threads = read.Need("ThreadsList", "_threads");
  const int os_thread = read.Need("JavaThread", "_osthread", "Thread");
  const int id = read.Need("OSThread", "_thread_id");
  if (!read.Complete().ok() || *list == 0) return 0;
  const auto own = static_cast<int32_t>(syscall(SYS_gettid));
  const auto count = At<uint32_t>(*list + length);
  const auto array = At<uint64_t>(*list + threads);
  for (uint32_t i = 0; i < count; i++) {
    const auto thread = At<uint64_t>(array + 8ULL * i);
    const auto os = At<uint64_t>(thread + os_thread);
    if (os != 0 && At<int32_t>(os + id) == own) return thread;
  }
  return 0;
}

// HotSpot keeps a thread's JavaThread also under a pthread key, which signal handlers may read.
bool FindThreadKey(uint64_t thread) {
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++)
    if (reinterpret_cast<uint64_t>(pthread_getspecific(key)) == thread) {
      thread_key = key;
      return true;
    }
  return false;
}

// How much of a stack's low end the JVM may protect against reading.
uint64_t GuardZone(const VmStructs& structs) {
  constexpr uint64_t kSlack = 4;  // pages: zones are rounded up
  const auto pages = static_cast<uint64_t>(IntFlag(structs, "StackYellowPages", 2) +
                                           IntFlag(structs, "StackRedPages", 1) +
                                           IntFlag(structs, "StackReservedPages", 1));
  return (pages + kSlack) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void FindSafeFetch(void* libjvm) {
  Dl_info info{};
  if (dladdr(dlsym(libjvm, "JNI_CreateJavaVM"), &info) == 0) return;
  const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
  for (const ElfFunction& function : FindFunctions(info.dli_fname, {"SafeFetchN_impl"}))
    safe_fetch = reinterpret_cast<SafeFetch>(base + function.address);
}

}  // namespace

bool LiveMemory::ReadWord(uint64_t address, uint64_t& word) const {
  if (address - trusted_low_ < trusted_bytes_) {
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }
  if (address < 4096) return false;
  const auto* at = reinterpret_cast<const uint64_t*>(address);
  if (safe_fetch == nullptr) {
    const iovec to{&word, 8}, from{const_cast<uint64_t*>(at), 8};
    return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 8;
  }
  constexpr uint64_t kOne = 0x5afefe7c5afefe7c;
  word = safe_fetch(at, kOne);
  return word != kOne || safe_fetch(at, 0) == kOne;
}

Status Attach() {
  if (attached.load()) return Ok();
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return Unable("there is no libjvm.so in this process");
  auto structs = VmStructs::Load(libjvm);
  if (!structs.ok()) return structs.failure();
  const auto* feature =
      static_cast<int*>(structs.value().Static("Abstract_VM_Version", "_vm_major_version"));
  if (feature == nullptr) return Unable("this libjvm's vmStructs do not tell its version");
  auto found = ReadWalkLayout(structs.value(), *feature);
  if (!found.ok()) return found.failure();
  const uint64_t thread = FindCurrentThread(structs.value());
  if (thread == 0) return Unable("the current thread is none of the JVM's");
  if (!FindThreadKey(thread)) return Unable("this JVM keeps its threads under no pthread key");
  FindSafeFetch(libjvm);
  guard_zone = GuardZone(structs.value());
  layout = found.value();
  attached.store(true);
  return Ok();
}

const WalkLayout* Live() { return attached.load(std::memory_order_acquire) ? &layout : nullptr; }

uint64_t CurrentThread() { return reinterpret_cast<uint64_t>(pthread_getspecific(thread_key)); }

WalkStart StartOf(const ucontext_t* context, uint64_t thread) {
  WalkStart start;
  start.thread = thread;
  start.live = true;
  start.caches = &caches;
  start.stack_high = At<uint64_t>(thread + layout.stack_base);
  start.stack_low = start.stack_high - At<uint64_t>(thread + layout.stack_size) + guard_zone;
  if (context == nullptr) return start;
  start.registers = ReadContext(*context);
  ReadJavaRegisters(*context, start.bcp_register, start.sender_sp_register, start.return_register);
  return start;
}

}  // namespace walkhammer
