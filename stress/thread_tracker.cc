// SPDX-License-Identifier: Apache-2.0
#include "stress/thread_tracker.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "harness/guard/guard.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::stress {
namespace {

std::string CommandOf(int tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

bool IsOurs(const std::string& thread_name) {
  return thread_name.starts_with("wh-") || thread_name.starts_with("walkhammer");
}

// Records the bounds of the calling thread's stack, as its C library knows them.
void TakeOwnStack(SampledThread& thread) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
  void* limit = nullptr;
  size_t bytes = 0;
  pthread_attr_getstack(&attributes, &limit, &bytes);
  pthread_attr_destroy(&attributes);
  thread.stack_limit = reinterpret_cast<uint64_t>(limit);
  thread.stack_base = thread.stack_limit + bytes;
}

}  // namespace

Status ThreadTracker::SetUp(Jvm& jvm, JNIEnv* env) {
  if (jvm.has_structs()) {
    StructReader read(jvm.structs());
    os_thread_ = read.Need("JavaThread", "_osthread", "Thread");
    os_thread_id_ = read.Need("OSThread", "_thread_id");
    RETURN_IF_ERROR(read.Complete());
    eetop_ = env->GetFieldID(env->FindClass("java/lang/Thread"), "eetop", "J");
  }
  jvm_ = &jvm;
  return Ok();
}

void ThreadTracker::Begin(Sampler& sampler) {
  sampler_ = &sampler;
  sampling_.store(true);
}

void ThreadTracker::UpdateClocks() {
  table_.ForEach([&](SampledThread& thread) { table_.UpdateClocks(thread); });
}

void ThreadTracker::DisarmAll() {
  table_.ForEach([&](SampledThread& thread) { Disarm(thread); });
}

std::string ThreadTracker::NameOf(JNIEnv* env, jthread object) const {
  jvmtiThreadInfo info{};
  if (jvm_->jvmti()->GetThreadInfo(object, &info) != JVMTI_ERROR_NONE) return "?";
  std::string name = info.name;
  jvm_->jvmti()->Deallocate(reinterpret_cast<unsigned char*>(info.name));
  env->DeleteLocalRef(info.thread_group);
  env->DeleteLocalRef(info.context_class_loader);
  return name;
}

// New local reference to the java.lang.Thread; null if the thread has ended.
jobject ThreadTracker::LocalRef(JNIEnv* env, SampledThread& thread) {
  std::lock_guard<std::mutex> lock(objects_);
  return thread.object == nullptr ? nullptr : env->NewLocalRef(thread.object);
}

void ThreadTracker::Started(JNIEnv* env, jthread object) {
  if (jvm_ == nullptr || !sampling()) return;
  const int tid = static_cast<int>(syscall(SYS_gettid));
  const std::string name = NameOf(env, object);
  if (IsOurs(name)) return;
  // The thread may be known: a JVM's main thread is, and a native one that attaches itself now.
  SampledThread* thread = table_.Find(tid);
  const bool is_new = thread == nullptr;
  if (is_new) thread = table_.Add(tid, name.c_str(), true);
  if (thread == nullptr) return;
  thread->view = jvm_->ThreadOf(env);
  thread->object = env->NewWeakGlobalRef(object);
  if (jvm_->has_structs()) {
    thread->stack_base = thread->view.stack_base();
    thread->stack_limit = thread->view.stack_limit();
  } else {
    TakeOwnStack(*thread);
  }
  thread->counts->java = 1;
  GiveSignalStack(kDisarmedInHandlers);
  thread->has_signal_stack = true;
  table_.Enter(*thread);
  thread->env = env;
  // A known entry may be that of an older thread with this tid.
  if (!is_new) Disarm(*thread);
  Arm(*thread);
}

void ThreadTracker::Ended() {
  SampledThread* thread = CurrentSampledThread();
  if (thread == nullptr || jvm_ == nullptr) return;
  sigset_t ours, before;  // signals on their way must not find the thread half removed
  sigemptyset(&ours);
  sigaddset(&ours, kSampleSignal);
  sigaddset(&ours, NestedSignal());
  pthread_sigmask(SIG_BLOCK, &ours, &before);
  Disarm(*thread);
  thread->shadow.store(nullptr);
  // A walk under way still uses this thread's thread pointer; a walk not begun never will.
  Park waiting = Park::kWaiting;
  thread->park.compare_exchange_strong(waiting, Park::kNone);
  while (thread->park.load() != Park::kNone) usleep(100);
  JNIEnv* env = thread->env;
  {
    std::lock_guard<std::mutex> lock(objects_);
    thread->env = nullptr;
    if (env != nullptr && thread->object != nullptr) env->DeleteWeakGlobalRef(thread->object);
    thread->object = nullptr;
  }
  table_.Remove(*thread, true);
  LeaveGuardedThread();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

// Reads what the agent must know of a thread that was there before the agent. The thread may end
// in between, and its JavaThread is then freed: java.lang.Thread forgets it before that, so that
// what was read counts only if java.lang.Thread still has it afterwards. False: it does not, or the
// thread has not begun.
bool ThreadTracker::Read(JNIEnv* env, jthread object, ExistingThread& there) const {
  static GuardSlot slot;  // one thread comes here
  const jlong java_thread = env->GetLongField(object, eetop_);
  if (java_thread == 0) return false;
  there.view = JavaThreadView(reinterpret_cast<void*>(java_thread), jvm_->layout());
  GuardSlot* before = SetCurrentGuardSlot(&slot);
  const bool readable = Contained(slot, [&] {
    const auto os_thread = *reinterpret_cast<uint64_t*>(java_thread + os_thread_);
    if (os_thread == 0) return;
    there.tid = *reinterpret_cast<int*>(os_thread + static_cast<uint64_t>(os_thread_id_));
    there.stack_base = there.view.stack_base();
    there.stack_limit = there.view.stack_limit();
  });
  SetCurrentGuardSlot(before);
  return readable && there.tid > 0 && env->GetLongField(object, eetop_) == java_thread;
}

// Adds a Java thread that was there before the agent, with a signal stack to take.
void ThreadTracker::AddExistingOne(JNIEnv* env, jthread object) {
  ExistingThread there;
  if (!Read(env, object, there) || table_.Find(there.tid) != nullptr) return;
  const std::string name = NameOf(env, object);
  if (IsOurs(name)) return;
  SampledThread* thread = table_.Add(there.tid, name.c_str(), true);
  if (thread == nullptr) return;
  ExistingThread still;
  if (!Read(env, object, still) || still.tid != there.tid) {  // the thread has ended in between
    table_.Remove(*thread, false);
    return;
  }
  thread->view = there.view;
  thread->env = jvm_->EnvOf(there.view);
  thread->object = env->NewWeakGlobalRef(object);
  thread->stack_base = there.stack_base;
  thread->stack_limit = there.stack_limit;
  thread->signal_stack = NewSignalStack(kDisarmedInHandlers);
  thread->has_signal_stack = (thread->signal_stack.ss_flags & SS_DISABLE) != 0;
  Arm(*thread);
}

// For a JVM without vmStructs, the calling thread alone: no thread says its tid but itself. The
// calling thread is added last: once it is sampled, a walk of it in mode running uses its guard
// slot, which Read would replace.
void ThreadTracker::AddExisting(JNIEnv* env) {
  jint count = 0;
  jthread* objects = nullptr;
  jthread caller = nullptr;
  if (jvm_->jvmti()->GetCurrentThread(&caller) != JVMTI_ERROR_NONE) return;
  if (!jvm_->has_structs()) {
    Started(env, caller);
    return;
  }
  if (jvm_->jvmti()->GetAllThreads(&count, &objects) != JVMTI_ERROR_NONE) return;
  std::partition(objects, objects + count,
                 [&](jthread object) { return !env->IsSameObject(object, caller); });
  env->DeleteLocalRef(caller);
  for (jint i = 0; i < count; i++) {
    AddExistingOne(env, objects[i]);
    env->DeleteLocalRef(objects[i]);
  }
  jvm_->jvmti()->Deallocate(reinterpret_cast<unsigned char*>(objects));
}

// Adds threads of the JVM and of libraries, but not our own; removes those that have ended.
void ThreadTracker::AddNative() {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* task = readdir(tasks)) {
    const int tid = std::atoi(task->d_name);
    if (tid <= 0 || table_.Find(tid) != nullptr) continue;
    const std::string name = CommandOf(tid);
    if (name.empty() || IsOurs(name)) continue;
    SampledThread* thread = table_.Add(tid, name.c_str(), false);
    if (thread != nullptr) Arm(*thread);
  }
  closedir(tasks);
  table_.ForEach([&](SampledThread& thread) {
    if (thread.counts->java != 0) return;
    if (syscall(SYS_tgkill, getpid(), thread.tid.load(), 0) == 0) return;
    Disarm(thread);
    table_.Remove(thread, false);
  });
}

void ThreadTracker::Arm(SampledThread& thread) {
  if (state_.job.step != 0) return;  // the stepper chooses its thread
  std::lock_guard<std::mutex> lock(arming_);
  if (!sampling()) return;
  if (state_.job.mode == WalkMode::kNested) {
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = NestedSignal();
    event._sigev_un._tid = thread.tid.load();
    thread.has_nested_timer = timer_create(CLOCK_MONOTONIC, &event, &thread.nested_timer) == 0;
  }
  thread.rearming.Allow();
  if (!sampler_->Arm(thread)) state_.unarmed.fetch_add(1);
}

void ThreadTracker::Disarm(SampledThread& thread) {
  std::lock_guard<std::mutex> lock(arming_);
  // Else something has stopped the thread in its handler, where it may use the descriptor or timer
  // yet: both stay open.
  if (!thread.rearming.Withdraw()) return;
  if (sampler_ != nullptr) sampler_->Disarm(thread);
  if (thread.has_nested_timer) timer_delete(thread.nested_timer);
  thread.has_nested_timer = false;
}

}  // namespace walkhammer::stress
