// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/testing/live_jvm.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <vector>

#include "harness/base/mappings.h"
#include "harness/ipc/launch.h"
#include "harness/jvm/images/jdk.h"

namespace walkhammer::asgst {
namespace {

constexpr int kSignal = SIGPROF;

const InHandler* handler = nullptr;
std::atomic<bool> handled{false};

void OnSignal(int, siginfo_t*, void* context) {
  const InHandler* const now = handler;
  if (now == nullptr) return;
  (*now)(static_cast<ucontext_t*>(context));
  handled.store(true);
}

void JNICALL Probe(JNIEnv*, jclass) { LiveJvm::Get().on_probe(); }

[[noreturn]] void Fail(const std::string& why) {
  fprintf(stderr, "no JVM for the tests: %s\n", why.c_str());
  _exit(1);
}

// JVM flags: those in the scenes' file, which has other lines, too, and the tests' own.
std::vector<std::string> Flags(int feature) {
  std::vector<std::string> flags = {"-Xshare:auto", "-Xmx64m"};
  for (std::string& flag : ReadFlags(WALKHAMMER_JVM_FLAGS, feature)) flags.push_back(flag);
  flags.push_back("-Djava.class.path=" WALKHAMMER_API_JAR ":" WALKHAMMER_TORTURE_JAR);
  return flags;
}

// Starts the process anew for a JVM with a C library of its own: the whole process must use that
// library.
void StartAnew(const Platform& platform) {
  constexpr char kOnce[] = "WALKHAMMER_STARTED_ANEW";
  if (platform.is_own() || getenv(kOnce) != nullptr) return;
  setenv(kOnce, "1", 1);
  std::vector<std::string> words;
  std::ifstream line("/proc/self/cmdline");
  for (std::string word; std::getline(line, word, '\0');) words.push_back(word);
  words[0] = OwnProgram();
  words = platform.Command(words);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  Fail("cannot start anew by " + words[0]);
}

}  // namespace

LiveJvm& LiveJvm::Get() {
  static LiveJvm live = [] {
    LiveJvm made;
    auto jdk = DefaultJdk();
    if (!jdk.ok()) Fail(jdk.failure().message);
    StartAnew(jdk.value().platform);
    if (asgst_attach(nullptr) != 0) made.attach_error_ = asgst_error();  // there is no JVM yet
    auto jvm = Jvm::Boot(jdk.value().libjvm, Flags(jdk.value().feature));
    if (!jvm.ok()) Fail(jvm.failure().message);
    made.jvm_ = jvm.value();
    JNIEnv* env = made.env();
    jclass api = env->FindClass("wh/Api");
    JNINativeMethod probe = {const_cast<char*>("probe"), const_cast<char*>("()V"),
                             reinterpret_cast<void*>(Probe)};
    if (api == nullptr || env->RegisterNatives(api, &probe, 1) != 0) Fail("no class wh.Api");
    made.api_ = static_cast<jclass>(env->NewGlobalRef(api));
    if (asgst_attach(made.jvm_->vm()) != 0) Fail(asgst_error());
    struct sigaction action {};
    action.sa_sigaction = OnSignal;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(kSignal, &action, nullptr);
    return made;
  }();
  return live;
}

void LiveJvm::Call(const char* method) {
  JNIEnv* env = this->env();
  env->CallStaticVoidMethod(api_, env->GetStaticMethodID(api_, method, "()V"));
  if (!env->ExceptionCheck()) return;
  env->ExceptionDescribe();
  env->ExceptionClear();
  ADD_FAILURE() << method << " threw";
}

void LiveJvm::SetStop(bool stop) {
  JNIEnv* env = this->env();
  env->SetStaticBooleanField(api_, env->GetStaticFieldID(api_, "stop", "Z"), stop);
}

std::string NameOf(jmethodID id) {
  const MethodEntry* entry = id == nullptr ? nullptr : LiveJvm::Get().jvm().methods().Find(id);
  return entry == nullptr ? "?" : entry->name;
}

std::string NameOf(ASGST_Method method) { return NameOf(ASGST_MethodToJMethodID(method)); }

bool WaitFor(const std::function<bool()>& reached) {
  for (int i = 0; i < 20'000; i++) {
    if (reached()) return true;
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  return false;
}

void SetHandler(const InHandler* what) { handler = what; }

void RaiseHere(const InHandler& what) {
  handler = &what;
  pthread_kill(pthread_self(), kSignal);
  handler = nullptr;
}

bool RaiseOn(pthread_t thread, const InHandler& what) {
  handled = false;
  handler = &what;
  pthread_kill(thread, kSignal);
  const bool done = WaitFor([] { return handled.load(); });
  handler = nullptr;
  return done;
}

void LiveTest::InProbe(const char* method, const InHandler& what) {
  live_.on_probe = [&] { RaiseHere(what); };
  live_.Call(method);
}

RunningMethod::RunningMethod(const std::function<void()>& body) {
  LiveJvm& live = LiveJvm::Get();
  live.SetStop(false);
  thread_ = std::thread([this, &live, body] {
    void* env = nullptr;
    live.jvm().vm()->AttachCurrentThread(&env, nullptr);
    os_thread_ = static_cast<int>(syscall(SYS_gettid));
    env_ = static_cast<JNIEnv*>(env);
    body();
    live.jvm().vm()->DetachCurrentThread();
  });
  while (env_ == nullptr) std::this_thread::yield();
  // Time to enter the method, and to compile it.
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void RunningMethod::WhileParked(const std::function<void(ucontext_t*)>& body) {
  std::atomic<ucontext_t*> parked{nullptr};
  std::atomic<bool> go_on{false};
  std::atomic<bool> raised{true};
  std::thread raiser([&] {
    raised = Raise([&](ucontext_t* context) {
      parked = context;
      while (!go_on) {
      }
    });
  });
  while (parked.load() == nullptr && raised) std::this_thread::yield();
  if (raised) body(parked);
  go_on = true;
  raiser.join();
  EXPECT_TRUE(raised);
}

RunningMethod::~RunningMethod() {
  LiveJvm::Get().SetStop(true);
  LiveJvm::Get().Call("wake");
  thread_.join();
}

}  // namespace walkhammer::asgst
