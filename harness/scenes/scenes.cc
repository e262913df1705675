// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/scenes.h"

#include <link.h>
#include <pthread.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>

#include "harness/guard/arch.h"
#include "harness/guard/system_calls.h"
#include "harness/jvm/structs/flags.h"
#include "harness/request/scene_table.h"
#include "harness/scenes/expectation.h"
#include "harness/scenes/physical_frames.h"
#include "harness/walkers/agct.h"

namespace walkhammer {
namespace {

constexpr int kSetUpSeconds = 20;
constexpr jint kMaxTruth = 16384;  // frames

// The scene that is being set up; one at a time.
struct SetUpInProgress {
  ParkedScene* scene = nullptr;
  bool armed = false;  // the next park() blocks
  std::vector<Expectation> expectations;
  std::string reason;  // why not available
  sem_t finished;
};

Jvm* jvm = nullptr;
SetUpInProgress* in_progress = nullptr;
thread_local std::string park_at_event;
// The free part of the stack in the scene `sampled`.
thread_local uint64_t room_begin = 0, room_end = 0;

void Finish(const std::string& reason) {
  if (in_progress == nullptr) return;
  in_progress->reason = reason;
  sem_post(&in_progress->finished);
}

// Lowest address of the calling thread's thread-local storage, which glibc keeps at the high end of
// the stack, or `high` if the storage is elsewhere.
uint64_t TlsLow(uint64_t low, uint64_t high) {
  struct Search {
    uint64_t low, best;
  } search{low, std::min(high, static_cast<uint64_t>(pthread_self()))};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& s = *static_cast<Search*>(data);
        auto at = reinterpret_cast<uint64_t>(info->dlpi_tls_data);
        if (at > s.low && at < s.best) s.best = at;
        return 0;
      },
      &search);
  return search.best & ~7ULL;
}

// Adds the frames that JVMTI reports for `thread`. Null: the current thread, which is the virtual
// thread if one is mounted. False if there are none.
bool AppendFrames(ParkedScene& scene, jthread thread) {
  std::vector<jvmtiFrameInfo> frames(kMaxTruth);
  jint count = 0;
  if (jvm->jvmti()->GetStackTrace(thread, 0, kMaxTruth, frames.data(), &count) != JVMTI_ERROR_NONE)
    return false;
  for (jint i = 0; i < count; i++) {
    const MethodEntry* method = jvm->methods().Find(frames[i].method);
    bool native = method != nullptr && method->is_native;
    scene.truth.push_back({native ? kAgctNativeBci : static_cast<int32_t>(frames[i].location),
                           native ? KindOfFrame(3, 0) : 0, frames[i].method});
  }
  return count > 0;
}

// The name depends on the JDK. The barrier for exceptions is never a return address.
bool IsReturnBarrier(const std::string& stub) {
  return stub.starts_with("cont_returnBarrier") || stub.starts_with("Cont thaw return barrier");
}

bool IsVirtual(JNIEnv* env, jclass thread_class) {
  jmethodID is_virtual = env->GetMethodID(thread_class, "isVirtual", "()Z");
  jmethodID current = env->GetStaticMethodID(thread_class, "currentThread", "()Ljava/lang/Thread;");
  jobject thread = env->CallStaticObjectMethod(thread_class, current);
  return env->CallBooleanMethod(thread, is_virtual) != JNI_FALSE;
}

// Adds the frames of the carrier if a virtual thread is mounted: the stack holds the frames of
// both.
void AppendCarrierFrames(ParkedScene& scene, JNIEnv* env) {
  jclass thread_class = env->FindClass("java/lang/Thread");
  jmethodID current =
      env->GetStaticMethodID(thread_class, "currentCarrierThread", "()Ljava/lang/Thread;");
  if (current == nullptr) return env->ExceptionClear();  // before JDK 19
  jthread carrier = env->CallStaticObjectMethod(thread_class, current);
  if (!IsVirtual(env, thread_class)) return;
  // JVMTI hides the native method between the frames of the two.
  jclass continuation = env->FindClass("jdk/internal/vm/Continuation");
  if (continuation == nullptr) return env->ExceptionClear();  // -XX:-VMContinuations: no carrier
  jmethodID seam =
      env->GetStaticMethodID(continuation, "enterSpecial", "(Ljdk/internal/vm/Continuation;ZZ)V");
  scene.truth.push_back({kAgctNativeBci, 0, seam});
  AppendFrames(scene, carrier);
}

// Leaves the activations that are in the heap out of the truth, if the scene claims that a method's
// is: walkers are asked for what is on the stack. The first `own` activations are those of the
// virtual thread; the rest, of its carrier. Returns "", or why the claim is not proved. Words of
// frames that have left the stack prove nothing against it.
std::string LeaveOutFrozen(ParkedScene& scene, size_t own) {
  std::vector<Expectation>& expectations = in_progress->expectations;
  const auto claim = std::find_if(expectations.begin(), expectations.end(),
                                  [](const Expectation& e) { return e.kind == "frozen"; });
  if (claim == expectations.end()) return "";
  const uint64_t frozen = claim->address;
  expectations.erase(claim);
  // None of the scene's own methods is inlined, so each frame on the stack is one activation.
  const std::vector<PhysicalFrame> thawed = FindPhysicalFrames(scene, *jvm);
  const std::vector<NamedCode> stubs = jvm->Stubs();
  const bool at_barrier =
      !thawed.empty() && std::any_of(stubs.begin(), stubs.end(), [&](const NamedCode& stub) {
        return IsReturnBarrier(stub.name) &&
               *reinterpret_cast<uint64_t*>(thawed.back().return_slot) == stub.begin;
      });
  if (!at_barrier || thawed.size() >= own)
    return "the oldest frame of the virtual thread on the stack does not return to the return "
           "barrier";
  const auto oldest = scene.truth.begin() + static_cast<ptrdiff_t>(thawed.size());
  if (jvm->MethodOf(static_cast<jmethodID>(oldest->method)) != frozen)
    return "the caller behind the return barrier is not the expected one";
  scene.truth_with_heap = scene.truth;
  scene.truth.erase(oldest, scene.truth.begin() + static_cast<ptrdiff_t>(own));
  return "";
}

// Fills `scene` from the calling thread, which is in native code called by its last Java frame.
// `caller_fp`: frame pointer of that Java frame, or 0 if other native frames are in between.
// Returns "", or why the scene is not available.
std::string Capture(ParkedScene& scene, JNIEnv* env, uint64_t caller_fp) {
  scene.env = env;
  scene.thread = jvm->ThreadOf(env);
  const JavaThreadView& thread = scene.thread;
  if (!AppendFrames(scene, nullptr)) return "JVMTI gave no stack trace of the parked thread";
  const size_t own = scene.truth.size();
  AppendCarrierFrames(scene, env);
  scene.stack_low = *thread.last_sp();
  scene.stack_high = thread.stack_base();
  scene.stack_limit = thread.stack_limit();
  scene.edit_high = TlsLow(scene.stack_low, scene.stack_high);
  if (scene.edit_high <= scene.stack_low + 64)
    return "the parked thread's stack lies above its thread-local storage";
  if (scene.stack_low == 0 || scene.stack_low >= scene.stack_high ||
      scene.stack_low < scene.stack_limit)
    return "the parked thread has no Java frame on its own stack";
  if (room_begin != 0 &&
      (scene.stack_low + kSampledFree < room_begin || scene.stack_low + kSampledEnd > room_end))
    return "the native frames around the room for a sample are larger than expected";
  scene.anchor_pc = *thread.last_pc();
  scene.anchor_fp = *thread.last_fp();
  // If the anchor holds no pc, pc = [last_Java_sp - 8], as HotSpot itself takes it.
  uint64_t pc =
      scene.anchor_pc != 0 ? scene.anchor_pc : reinterpret_cast<uint64_t*>(scene.stack_low)[-1];
  uint64_t fp = scene.anchor_fp != 0 ? scene.anchor_fp : caller_fp;
  scene.pristine = {pc, scene.stack_low, fp, 0};
  if (std::string unproved = LeaveOutFrozen(scene, own); !unproved.empty()) return unproved;
  std::span<const uint64_t> stack(reinterpret_cast<const uint64_t*>(scene.stack_low),
                                  (scene.stack_high - scene.stack_low) / 8);
  const std::vector<CodeBlob> blobs = jvm->code_cache().Blobs();
  // ExpectedKind reads the whole stack, and a scene may have thousands of frames: one call per
  // method.
  std::map<void*, int32_t> kinds;
  for (Frame& frame : scene.truth) {
    if (frame.bci == kAgctNativeBci) continue;
    const auto [kind, added] = kinds.try_emplace(frame.method, 0);
    if (added)
      kind->second =
          ExpectedKind(in_progress->expectations,
                       jvm->MethodOf(static_cast<jmethodID>(frame.method)), stack, blobs);
    frame.kind = kind->second;
  }
  return Unmet(in_progress->expectations, stack, blobs);
}

void RunLent(ParkedScene& scene) {
  scene.TakeSnapshot();
  (*scene.body)();
  scene.RestoreStack();
}

// Parks the calling thread for good, lending it to the walk line.
void Park(JNIEnv* env, uint64_t caller_fp) {
  ParkedScene& scene = *in_progress->scene;
  std::string unmet = Capture(scene, env, caller_fp);
  scene.guard.thread_state = scene.thread.state();
  scene.guard.true_state = *scene.thread.state();
  scene.guard.anchor = scene.thread.last_sp();
  scene.guard.walked_stack = scene.stack_low;
  scene.signal_mask = ThreadSignalMask();
  scene.thread_pointer = ThreadPointer();
  sem_init(&scene.go, 0, 0);
  sem_init(&scene.done, 0, 0);
  EnterGuardedThread(scene.guard);
  WatchSystemCalls();
  Finish(unmet);
  for (;;) {
    while (sem_wait(&scene.go) != 0) {
    }
    RunLent(scene);
    sem_post(&scene.done);
  }
}

std::string Utf(JNIEnv* env, jstring text) {
  const char* chars = env->GetStringUTFChars(text, nullptr);
  std::string out = chars == nullptr ? "" : chars;
  if (chars != nullptr) env->ReleaseStringUTFChars(text, chars);
  return out;
}

jmethodID MethodId(JNIEnv* env, jclass owner, jstring name, jstring signature) {
  std::string n = Utf(env, name), s = Utf(env, signature);
  jmethodID id = env->GetStaticMethodID(owner, n.c_str(), s.c_str());
  if (id == nullptr) {
    env->ExceptionClear();
    id = env->GetMethodID(owner, n.c_str(), s.c_str());
    if (id == nullptr) env->ExceptionClear();
  }
  return id;
}

// --- natives of wh.Harness ---

// Clears the stack below the caller's frame. Frames have slots that nobody writes: what the JVM's
// own calls left there differs from run to run, and so would the answers of walks that read them.
__attribute__((noinline)) void ClearStackBelow() {
  constexpr uint64_t kNoAddress = 1;  // nor zero, which engines are to put there themselves
  volatile uint64_t below[8192];
  for (volatile uint64_t& word : below) word = kNoAddress;
}

// A scene that does not park, as in `step`, is not cleared: that takes more instructions than the
// scene.
void JNICALL Arm(JNIEnv*, jclass) {
  if (in_progress == nullptr) return;
  in_progress->armed = true;
  ClearStackBelow();
}

__attribute__((noinline)) void JNICALL ParkIfArmed(JNIEnv* env, jclass) {
  if (in_progress == nullptr || !in_progress->armed) return;
  in_progress->armed = false;
  // The Java frame calls this function directly: the word at our fp is the Java frame's fp.
  Park(env, *static_cast<uint64_t*>(__builtin_frame_address(0)));
}

void JNICALL Unavailable(JNIEnv* env, jclass, jstring reason) { Finish(Utf(env, reason)); }

jint JNICALL Level(JNIEnv* env, jclass, jclass owner, jstring name, jstring signature,
                   jboolean osr) {
  uint64_t method = jvm->MethodOf(MethodId(env, owner, name, signature));
  if (method == 0) return -1;
  if (osr == JNI_FALSE) {
    // Method::_code first: cheap, and null while interpreted.
    auto code = *reinterpret_cast<uint64_t*>(method + jvm->layout().method_code);
    return code == 0 ? 0 : jvm->code_cache().BlobAt(code).comp_level;
  }
  jint level = 0;
  for (const CodeBlob& blob : jvm->code_cache().Blobs())
    if (blob.is_nmethod && blob.method == method && blob.entry_bci != -1)
      level = std::max(level, blob.comp_level);
  return level;
}

void JNICALL Expect(JNIEnv* env, jclass, jstring kind, jclass owner, jstring name,
                    jstring signature) {
  if (in_progress == nullptr) return;
  jmethodID id = MethodId(env, owner, name, signature);
  const MethodEntry* entry = jvm->methods().Find(id);
  in_progress->expectations.push_back(
      {Utf(env, kind), entry == nullptr ? Utf(env, name) : entry->name, jvm->MethodOf(id)});
}

void JNICALL ParkAtMonitorEvent(JNIEnv* env, jclass, jstring which) {
  if (in_progress == nullptr) return;
  park_at_event = Utf(env, which);
  jvmtiEvent event = park_at_event == "monitor-enter" ? JVMTI_EVENT_MONITOR_CONTENDED_ENTER
                                                      : JVMTI_EVENT_MONITOR_WAIT;
  jvm->jvmti()->SetEventNotificationMode(JVMTI_ENABLE, event, nullptr);
}

// The answers are kept: scenes ask each time they are played, and `step` walks each instruction.
jboolean JNICALL CompilersEnabled(JNIEnv*, jclass, jint level) {
  static const bool c1 = CanCompile(jvm->structs(), 1), c2 = CanCompile(jvm->structs(), 4);
  return (level < 4 ? c1 : c2) ? JNI_TRUE : JNI_FALSE;
}

jint JNICALL Zombies(JNIEnv*, jclass) {
  // A sweeper that runs only now and then would free a zombie at any time, or make none.
  constexpr int64_t kAtEachAllocation = 50;
  if (jvm->feature() >= 20 ||
      IntFlag(jvm->structs(), "StartAggressiveSweepingAt", 0) < kAtEachAllocation)
    return -1;
  const std::vector<CodeBlob> blobs = jvm->code_cache().Blobs();
  return static_cast<jint>(std::count_if(blobs.begin(), blobs.end(), [](const CodeBlob& blob) {
    return blob.IsZombie(jvm->feature());
  }));
}

jlong JNICALL StackLeft(JNIEnv* env, jclass) {
  auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  return static_cast<jlong>(here - jvm->ThreadOf(env).stack_limit()) -
         GuardPages(jvm->structs()) * 4096;
}

void JNICALL Down(JNIEnv* env, jclass, jint depth) {
  jclass target = env->FindClass("wh/JniUpDown");
  jmethodID up = env->GetStaticMethodID(target, "up", "(I)V");
  if (in_progress != nullptr && in_progress->armed) ClearStackBelow();
  if (up != nullptr) env->CallStaticVoidMethod(target, up, depth - 1);
}

__attribute__((noinline)) void JNICALL Room(JNIEnv* env, jclass) {
  volatile uint64_t room[kSampledEnd / 8];
  for (volatile uint64_t& word : room) word = 0;
  room_begin = reinterpret_cast<uint64_t>(room);
  room_end = room_begin + sizeof room;
  jclass target = env->FindClass("wh/Sampled");
  jmethodID up = env->GetStaticMethodID(target, "interpUp", "()V");
  if (up != nullptr) env->CallStaticVoidMethod(target, up);
  (void)room[0];
}

void ParkAtEvent(JNIEnv* env, const char* which) {
  if (park_at_event != which || in_progress == nullptr) return;
  park_at_event.clear();
  Park(env, 0);  // libjvm's own frames are in between
}

void JNICALL OnMonitorEnter(jvmtiEnv*, JNIEnv* env, jthread, jobject) {
  ParkAtEvent(env, "monitor-enter");
}

void JNICALL OnMonitorWait(jvmtiEnv*, JNIEnv* env, jthread, jobject, jlong) {
  ParkAtEvent(env, "monitor-wait");
}

template <typename Function>
JNINativeMethod Native(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

const JNINativeMethod kNatives[] = {
    Native("arm", "()V", Arm),
    Native("park", "()V", ParkIfArmed),
    Native("unavailable", "(Ljava/lang/String;)V", Unavailable),
    Native("level", "(Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;Z)I", Level),
    Native("expect", "(Ljava/lang/String;Ljava/lang/Class;Ljava/lang/String;Ljava/lang/String;)V",
           Expect),
    Native("parkAtMonitorEvent", "(Ljava/lang/String;)V", ParkAtMonitorEvent),
    Native("compilersEnabled", "(I)Z", CompilersEnabled),
    Native("zombies", "()I", Zombies),
    Native("stackLeft", "()J", StackLeft),
    Native("down", "(I)V", Down),
};

// Binds wh.Sampled.room apart from other natives, so that no other scene loads wh.Sampled: seeds in
// corpora/ depend on where the metadata of our classes is.
bool BindRoom(JNIEnv* env) {
  const JNINativeMethod room = Native("room", "()V", Room);
  jclass target = env->FindClass("wh/Sampled");
  return target != nullptr && env->RegisterNatives(target, &room, 1) == JNI_OK;
}

void LendThread(void* argument) {
  ParkedScene& scene = *static_cast<ParkedScene*>(argument);
  sem_post(&scene.go);
  while (sem_wait(&scene.done) != 0) {
  }
}

}  // namespace

void ParkedScene::TakeSnapshot() {
  auto* stack = reinterpret_cast<uint64_t*>(stack_low);
  snapshot.assign(stack, stack + (edit_high - stack_low) / 8);
}

// Walkers do write to the stack: make_walkable fills the pc of whatever it takes for an anchor.
void ParkedScene::RestoreStack() const {
  auto* stack = reinterpret_cast<uint64_t*>(stack_low);
  for (size_t i = 0; i < snapshot.size(); i++)
    if (stack[i] != snapshot[i]) stack[i] = snapshot[i];
}

Status BindSceneNatives(Jvm& the_jvm, JNIEnv* env) {
  jvm = &the_jvm;
  jclass harness = env->FindClass("wh/Harness");
  if (harness == nullptr)
    return ToolFailed("cannot load wh.Harness from walkhammer-scenes.jar: rebuild walkhammer");
  if (env->RegisterNatives(harness, kNatives, std::size(kNatives)) != JNI_OK)
    return ToolFailed("walkhammer-scenes.jar does not fit this walkhammer_child: rebuild both");
  return Ok();
}

Result<SceneStage*> SceneStage::Open(Jvm& the_jvm) {
  RETURN_IF_ERROR(BindSceneNatives(the_jvm, the_jvm.env()));
  jvm->SetMonitorCallbacks(OnMonitorEnter, OnMonitorWait);
  return new SceneStage(the_jvm);
}

Status SceneStage::SetUp(int scene) {
  JNIEnv* env = jvm_.env();
  if (stuck_) return Unable("an earlier scene's thread did not park, so no further one is tried");
  if (std::string_view(AllScenes()[scene].name) == kSampledScene && !BindRoom(env))
    return ToolFailed("walkhammer-scenes.jar does not fit this walkhammer_child: rebuild both");
  auto* in_work = new SetUpInProgress;  // leaked if its thread may still use it
  SetUpInProgress& set_up = *in_work;
  auto parked = std::make_unique<ParkedScene>();
  parked->index = scene;
  set_up.scene = parked.get();
  sem_init(&set_up.finished, 0, 0);
  in_progress = &set_up;
  jclass scenes = env->FindClass("wh/Scenes");
  jmethodID start =
      env->GetStaticMethodID(scenes, "start", "(Ljava/lang/String;)Ljava/lang/Thread;");
  jstring name = env->NewStringUTF(AllScenes()[scene].name);
  jobject thread = env->CallStaticObjectMethod(scenes, start, name);
  if (env->ExceptionCheck() != JNI_FALSE || thread == nullptr) {
    env->ExceptionDescribe();
    env->ExceptionClear();
    in_progress = nullptr;
    return ToolFailed("wh.Scenes.start threw an exception; it stands above");
  }
  env->NewGlobalRef(thread);
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);  // the other one may jump
  until.tv_sec += kSetUpSeconds;
  int waited;
  while ((waited = sem_clockwait(&set_up.finished, CLOCK_MONOTONIC, &until)) != 0 &&
         errno == EINTR) {
  }
  in_progress = nullptr;
  if (waited != 0) {
    stuck_ = true;
    (void)parked.release();
    return Unable("its thread did not park within 20 s");
  }
  const std::string reason = set_up.reason;
  delete in_work;
  if (!reason.empty()) {
    (void)parked.release();  // its thread may have parked all the same
    return Unable(reason);
  }
  scenes_[scene] = std::move(parked);
  return Ok();
}

std::vector<ParkedScene*> SceneStage::All() const {
  std::vector<ParkedScene*> all;
  for (const auto& scene : scenes_)
    if (scene != nullptr) all.push_back(scene.get());
  return all;
}

bool SceneStage::Run(ParkedScene& scene, FunctionRef<void()> body) {
  scene.body = &body;
  return jvm_.RunAtSafepoint(LendThread, &scene);
}

}  // namespace walkhammer
