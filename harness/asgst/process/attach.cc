// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/attach.h"

#include <dlfcn.h>
#include <jni.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <mutex>

#include "harness/asgst/process/classes.h"
#include "harness/asgst/process/safe_fetch.h"
#include "harness/asgst/process/stack_chunks.h"
#include "harness/asgst/process/thread_status.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/unwind/unwind_service.h"
#include "harness/elf/elf_functions.h"
#include "harness/guard/arch.h"
#include "harness/jvm/structs/flags.h"

namespace walkhammer::asgst {
namespace {

WalkLayout layout;
WalkStart::Caches caches;
std::atomic<bool> attached{false};
pthread_key_t thread_key;
SafeFetch safe_fetch;
uint64_t guard_zone = 0;
JavaVM* the_vm = nullptr;
std::atomic<uint64_t> java_functions{1};  // first word of the Java thread that was met last

// JNIEnv of the current thread; null: it is not attached. Reads thread-local storage only.
// Signal-safe: yes, but for a thread that libjvm has never seen.
JNIEnv* OwnEnv(JavaVM* vm) {
  void* env = nullptr;
  return vm->GetEnv(&env, JNI_VERSION_1_2) == JNI_OK ? static_cast<JNIEnv*>(env) : nullptr;
}

uint64_t WordAt(uint64_t address) { return *reinterpret_cast<const uint64_t*>(address); }

// Finds the pthread key under which HotSpot keeps each thread's own Thread*; signal handlers may
// read the key. Its value on the current thread satisfies
// `[[value + JavaThread::_osthread] + OSThread::_thread_id] = gettid()`.
bool FindThreadKey(const VmStructs& structs) {
  StructReader read(structs);
  const int os_thread = read.Need("JavaThread", "_osthread", "Thread");
  const int id = read.Need("OSThread", "_thread_id");
  if (!read.Complete().ok()) return false;
  const auto own = static_cast<int32_t>(syscall(SYS_gettid));
  const LiveMemory memory;
  for (pthread_key_t key = 0; key < PTHREAD_KEYS_MAX; key++) {
    const auto value = reinterpret_cast<uint64_t>(pthread_getspecific(key));
    uint64_t os = 0;
    int32_t found = 0;
    if (value == 0 || (value & 7) != 0 || !memory.ReadWord(value + os_thread, os) ||
        !memory.Read(os + id, found) || found != own)
      continue;
    thread_key = key;
    return true;
  }
  return false;
}

// Bytes at the low end of a stack that the JVM may protect against reading.
uint64_t GuardZone(const VmStructs& structs) {
  constexpr uint64_t kSlack = 4;  // pages: zones are rounded up
  return (static_cast<uint64_t>(GuardPages(structs)) + kSlack) *
         static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

WalkStart StartAt(const ucontext_t* context, uint64_t thread, uint64_t stack_high,
                  uint64_t stack_size, bool non_java) {
  const bool has_context = context != nullptr;
  return {.registers = has_context ? ReadContext(*context) : Registers{},
          .java = has_context ? ReadJavaRegisters(*context) : JavaRegisters{},
          .thread = thread,
          .stack_high = stack_high,
          .stack_floor = stack_high - stack_size,
          .live = true,
          .caches = &caches,
          .unwind = &LiveTables(),
          .non_java = non_java,
          .from_context = has_context};
}

// JDK 25 and later: vmStructs have what FindContinuations() looks for.
void FindContinuationsOf(const Dl_info& libjvm, WalkLayout& l) {
  if (l.feature < 21) return;
  const auto base = reinterpret_cast<uint64_t>(libjvm.dli_fbase);
  uint64_t return_pc = 0, barrier = 0;
  for (const ElfFunction& found :
       FindFunctions(libjvm.dli_fname, {kContinuationReturnPc, kReturnBarrier, kSafepoints}))
    (found.name == kSafepoints             ? l.chunks.safepoints_at
     : found.name == kContinuationReturnPc ? return_pc
                                           : barrier) = base + found.address;
  FindContinuations(return_pc, barrier, LiveMemory(), l);
}

}  // namespace

// Attach itself runs on a Java thread, and not in a signal handler.
LiveMemory::LiveMemory() : LiveMemory(0, 0, safe_fetch.address) {
  if (safe_fetch.on_java_threads_alone &&
      (Live() == nullptr ? OwnEnv(the_vm) == nullptr : CurrentJavaThread() == 0))
    fetch_ = 0;
}

bool LiveMemory::ReadWord(uint64_t address, uint64_t& word) const {
  if ((address & 7) != 0 || address < 4096) return false;
  if (address - trusted_low_ < trusted_bytes_) {
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    return true;
  }
  if (fetch_ == 0) return KernelMemory().ReadWord(address, word);
  constexpr uint64_t kOne = 0x5afefe7c5afefe7c;
  word = CallByAddress(fetch_, address, kOne);
  return word != kOne || CallByAddress(fetch_, address, 0) == kOne;
}

Status Attach(JavaVM* vm) {
  static std::mutex* const one_at_a_time = new std::mutex;  // outlives static objects
  const std::lock_guard<std::mutex> lock(*one_at_a_time);
  if (attached.load()) return Ok();
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (libjvm == nullptr) return Unable("there is no libjvm.so in this process");
  ASSIGN_OR_RETURN(auto structs, VmStructs::Load(libjvm));
  const auto* version =
      static_cast<int*>(structs.Static("Abstract_VM_Version", "_vm_major_version"));
  if (version == nullptr) return Unable("this libjvm's vmStructs do not tell its version");
  JNIEnv* env = OwnEnv(vm);
  if (env == nullptr) return Unable("the current thread is none of the JVM's");
  // In JDK 8, _vm_major_version is HotSpot's own version: 25.
  const int feature = env->GetVersion() == JNI_VERSION_1_8 ? 8 : *version;
  ASSIGN_OR_RETURN(auto found, ReadWalkLayout(structs, feature));
  the_vm = vm;
  Dl_info file{};
  if (dladdr(dlsym(libjvm, "JNI_CreateJavaVM"), &file) != 0) {
    safe_fetch = FindSafeFetch(vm, file, feature);
    FindContinuationsOf(file, found);
  }
  uint64_t word = 0;
  if (!LiveMemory().ReadWord(reinterpret_cast<uint64_t>(&layout) & ~7ULL, word))
    return Unable("this libjvm hides SafeFetch, and the kernel permits no process_vm_readv");
  if (!FindThreadKey(structs)) return Unable("this JVM keeps its threads under no pthread key");
  const auto thread = reinterpret_cast<uint64_t>(pthread_getspecific(thread_key));
  RETURN_IF_ERROR(ReadThreads(structs, thread, env));
  FindThreadStatus(env, structs, feature, thread);
  FindStackChunks(env, structs, found);
  guard_zone = GuardZone(structs);
  layout = found;
  layout.method_tables = &MethodTables();
  // If TrackClasses fails, classes are unknown; walks are as good.
  static_cast<void>(TrackClasses(vm, env, structs, feature));
  StartUnwindService();
  attached.store(true);
  return Ok();
}

JavaVM* TheVm() { return the_vm; }

const WalkLayout* Live() { return attached.load(std::memory_order_acquire) ? &layout : nullptr; }

// All of HotSpot's threads have a value under the key; only Java threads have a JNIEnv. A Thread's
// first word is the address of its class's virtual functions, and most Java threads are of one
// class.
uint64_t CurrentJavaThread() {
  const auto thread = reinterpret_cast<uint64_t>(pthread_getspecific(thread_key));
  if (thread == 0) return 0;
  const uint64_t functions = WordAt(thread);
  if (functions == java_functions.load(std::memory_order_relaxed)) return thread;
  if (OwnEnv(the_vm) == nullptr) return 0;
  if (functions != 0) java_functions.store(functions, std::memory_order_relaxed);
  return thread;
}

JNIEnv* CurrentEnv() { return Live() == nullptr ? nullptr : OwnEnv(the_vm); }

WalkStart StartOf(const ucontext_t* context, uint64_t thread, bool non_java) {
  WalkStart start = StartAt(context, thread, WordAt(thread + layout.jvm.stack_base),
                            WordAt(thread + layout.jvm.stack_size), non_java);
  start.plain_low = start.stack_floor + guard_zone;
  start.uses_rules = true;
  return start;
}

WalkStart StartOutsideJava(const ucontext_t* context, const Registers* registers) {
  constexpr uint64_t kMost = uint64_t{1} << 30;  // bytes of any thread's stack
  WalkStart start = StartAt(context, 0, kMost, kMost, true);
  if (registers != nullptr) start.registers = *registers;
  start.stack_floor = start.registers.sp;
  start.stack_high = start.stack_floor + kMost;
  return start;
}

bool StartOfOther(const ucontext_t* context, uint64_t thread, WalkStart& start, bool non_java) {
  const LiveMemory memory;
  uint64_t high = 0, size = 0;
  if (!memory.ReadWord(thread + layout.jvm.stack_base, high) ||
      !memory.ReadWord(thread + layout.jvm.stack_size, size) || size > high)
    return false;
  start = StartAt(context, thread, high, size, non_java);
  return true;
}

LiveMemory MemoryOf(const WalkStart& start) {
  const uint64_t low = start.stack_floor + guard_zone;
  return low < start.stack_high ? LiveMemory(low, start.stack_high, safe_fetch.address)
                                : LiveMemory(0, 0, safe_fetch.address);
}

}  // namespace walkhammer::asgst
