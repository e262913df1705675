// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/unload_handlers.h"

#include <jvmti.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <utility>
#include <vector>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/process/classes.h"
#include "harness/asgst/process/jvm_hooks.h"
#include "harness/jvm/live/jvmti_env.h"
#include "harness/process/service_thread.h"

namespace walkhammer::asgst {
namespace {

using Clock = std::chrono::steady_clock;

struct Handler {
  ASGST_ClassUnloadHandler function;
  void* argument;
  bool operator==(const Handler&) const = default;
};

// JVMTI reports that a class is about to be redefined, but not that it was. The watcher then looks
// whether the class has other methods, until it has, for at most kWatched.
constexpr auto kWatched = std::chrono::seconds(60);
constexpr auto kLook = std::chrono::milliseconds(1), kLookSeldom = std::chrono::milliseconds(100);

struct Watched {
  uint64_t klass;
  Clock::time_point since;
  bool operator==(const Watched&) const = default;
};

// Never destroyed: the watcher and the JVM outlive static objects.
struct HandlersState {
  std::mutex registering;            // one handler at a time is added or removed
  std::shared_mutex handlers_mutex;  // held shared while handlers run
  std::vector<Handler> handlers;
  jvmtiEnv* jvmti = nullptr;  // reports redefinitions while there are handlers; null: hooks do

  std::mutex watched_mutex;
  std::condition_variable watch;
  std::vector<Watched> watched;
};
HandlersState& Handlers() {
  static HandlersState* state = new HandlersState;
  return *state;
}

thread_local bool in_handler = false;

void Call(const GoneMethods& gone, bool redefined) {
  HandlersState& s = Handlers();
  const std::shared_lock<std::shared_mutex> lock(s.handlers_mutex);
  const bool nested = std::exchange(in_handler, true);
  std::vector<ASGST_Method> methods;
  for (const Handler& handler : s.handlers) {
    // Each handler may change the array.
    methods.clear();
    for (const uint64_t method : gone.methods)
      methods.push_back(reinterpret_cast<ASGST_Method>(method));
    handler.function(reinterpret_cast<ASGST_Class>(gone.klass), methods.data(),
                     static_cast<int>(methods.size()), redefined, handler.argument);
  }
  in_handler = nested;
}

void OnUnload(const GoneMethods& gone) { Call(gone, false); }

HookedFunction go_on_unloading = nullptr, go_on_redefining = nullptr;

// The JVM is about to unload this InstanceKlass, on the VM thread or a collector's.
void OnUnloadBegins(uint64_t klass, uint64_t second) {
  GoneMethods gone{};
  if (TakeUnloading(klass, gone)) {
    Call(gone, false);
    Forget(klass);
  }
  go_on_unloading(klass, second);
}

// The JVM is about to give this InstanceKlass other methods, on the VM thread at a safepoint.
void OnRedefinitionBegins(uint64_t breakpoints, uint64_t klass) {
  GoneMethods gone{};
  if (TakeCurrent(klass, gone)) Call(gone, true);
  go_on_redefining(breakpoints, klass);
}

// Where the JVM says what is about to happen. VM_RedefineClasses::redefine_single_class, which gets
// no InstanceKlass*, begins by removing the class's breakpoints; nothing else removes them so.
bool HookUnloading() {
  return HookJvm({{"_ZN19ClassLoadingService21notify_class_unloadedEP13InstanceKlass",
                   OnUnloadBegins, &go_on_unloading},
                  {"_ZN16JvmtiBreakpoints30clearall_in_class_at_safepointEP5Klass",
                   OnRedefinitionBegins, &go_on_redefining}},
                 ASGST_HOOKS_UNLOADING)
      .ok();
}

// Calls the handlers for the watched classes that were redefined. Returns how long to wait before
// the next look.
Clock::duration Look() {
  HandlersState& s = Handlers();
  std::vector<Watched> now;
  {
    const std::lock_guard<std::mutex> lock(s.watched_mutex);
    now = s.watched;
  }
  Clock::duration next = kLookSeldom;
  std::vector<Watched> done;
  for (const Watched& one : now) {
    const auto watched_for = Clock::now() - one.since;
    GoneMethods gone{};
    const bool redefined = TakeRedefined(one.klass, gone);
    if (redefined) Call(gone, true);
    if (redefined || watched_for > kWatched) done.push_back(one);
    if (watched_for < std::chrono::seconds(1)) next = kLook;
  }
  const std::lock_guard<std::mutex> lock(s.watched_mutex);
  std::erase_if(s.watched, [&](const Watched& one) {
    return std::find(done.begin(), done.end(), one) != done.end();
  });
  return next;
}

void* WatchForEver(void*) {
  HandlersState& s = Handlers();
  while (true) {
    {
      std::unique_lock<std::mutex> lock(s.watched_mutex);
      s.watch.wait(lock, [&] { return !s.watched.empty(); });
    }
    std::this_thread::sleep_for(Look());
  }
}

void JNICALL OnClassFileLoad(jvmtiEnv*, JNIEnv* env, jclass redefined, jobject, const char*,
                             jobject, jint, const unsigned char*, jint*, unsigned char**) {
  if (redefined == nullptr || env == nullptr) return;
  const uint64_t klass = KlassOf(env, redefined);
  if (klass == 0) return;
  HandlersState& s = Handlers();
  const std::lock_guard<std::mutex> lock(s.watched_mutex);
  s.watched.push_back({klass, Clock::now()});
  s.watch.notify_one();
}

// A JVMTI environment that reports redefinitions; null if there can be none. Only an environment
// that may retransform gets events of retransformations, too.
jvmtiEnv* NewEnvironment(JavaVM* vm) {
  jvmtiEnv* jvmti = NewJvmti(vm);
  if (jvmti == nullptr) return nullptr;
  jvmtiCapabilities wanted{};
  wanted.can_generate_all_class_hook_events = 1;
  wanted.can_retransform_classes = 1;
  jvmtiEventCallbacks callbacks{};
  callbacks.ClassFileLoadHook = OnClassFileLoad;
  if (jvmti->AddCapabilities(&wanted) == JVMTI_ERROR_NONE &&
      jvmti->SetEventCallbacks(&callbacks, sizeof callbacks) == JVMTI_ERROR_NONE &&
      StartServiceThread("asgst-unload", WatchForEver).ok())
    return jvmti;
  jvmti->DisposeEnvironment();
  return nullptr;
}

void ListenForRedefinitions(jvmtiEnv* jvmti, bool on) {
  if (jvmti == nullptr) return;
  jvmti->SetEventNotificationMode(on ? JVMTI_ENABLE : JVMTI_DISABLE,
                                  JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, nullptr);
}

}  // namespace

void AddUnloadHandler(JavaVM* vm, ASGST_ClassUnloadHandler handler, void* argument) {
  HandlersState& s = Handlers();
  if (handler == nullptr || in_handler) return;
  const std::lock_guard<std::mutex> one(s.registering);
  static const bool started = [&] {
    if (HookUnloading()) {
      ExpectUnloading();
      return true;
    }
    s.jvmti = NewEnvironment(vm);
    SetUnloadListener(OnUnload);
    return true;
  }();
  static_cast<void>(started);
  bool first = false;
  {
    const std::unique_lock<std::shared_mutex> lock(s.handlers_mutex);
    first = s.handlers.empty();
    s.handlers.push_back({handler, argument});
  }
  if (!first || s.jvmti == nullptr) return;
  ListenForRedefinitions(s.jvmti, true);
  // Redefinitions before this went unnoticed and are not to be reported.
  RefreshMethods();
}

bool RemoveUnloadHandler(ASGST_ClassUnloadHandler handler, void* argument) {
  HandlersState& s = Handlers();
  if (in_handler) return false;
  const std::lock_guard<std::mutex> one(s.registering);
  bool last = false;
  {
    const std::unique_lock<std::shared_mutex> lock(s.handlers_mutex);
    const auto found = std::find(s.handlers.begin(), s.handlers.end(), Handler{handler, argument});
    if (found == s.handlers.end()) return false;
    s.handlers.erase(found);
    last = s.handlers.empty();
  }
  if (last) ListenForRedefinitions(s.jvmti, false);
  return true;
}

}  // namespace walkhammer::asgst
