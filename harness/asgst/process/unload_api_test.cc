// SPDX-License-Identifier: Apache-2.0
// What unloading and redefinition do to handles and numbers of asgst_iterator.h, and the handlers
// that report both, on a live JVM.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/asgst/testing/ids_testing.h"

namespace walkhammer::asgst {
namespace {

// One call of a handler: its arguments, and the number that the class had within the call.
struct Reported {
  ASGST_Class klass;
  std::vector<ASGST_Method> methods;
  bool redefined;
  jlong idnum;
};

class Listener {
 public:
  Listener() { ASGST_RegisterClassUnloadHandler(OnGone, this); }
  ~Listener() { ASGST_DeregisterClassUnloadHandler(OnGone, this); }
  std::vector<Reported> told(ASGST_Class klass) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<Reported> found;
    std::copy_if(told_.begin(), told_.end(), std::back_inserter(found),
                 [&](const Reported& told) { return told.klass == klass; });
    return found;
  }

  static void OnGone(ASGST_Class klass, ASGST_Method* methods, int count, bool redefined,
                     void* self) {
    auto* listener = static_cast<Listener*>(self);
    const std::lock_guard<std::mutex> lock(listener->mutex_);
    listener->told_.push_back(
        {klass, {methods, methods + count}, redefined, ASGST_GetClassIdNum(klass)});
    std::fill(methods, methods + count, nullptr);  // the array is the handler's to change
  }

 private:
  std::mutex mutex_;
  std::vector<Reported> told_;
};

class UnloadApi : public LiveTest {
 protected:
  // A new wh.Gone in a loader of its own.
  jclass Load() {
    jclass gone = FindTestClass("wh/Gone");
    return static_cast<jclass>(
        env_->CallStaticObjectMethod(gone, StaticMethod(gone, "load", "()Ljava/lang/Class;")));
  }
  void Collect() {
    jclass system = FindTestClass("java/lang/System");
    env_->CallStaticVoidMethod(system, StaticMethod(system, "gc", "()V"));
    env_->DeleteLocalRef(system);
  }
  // Collects garbage until the class is no more.
  bool Unload(ASGST_Class klass) {
    return WaitFor([&] {
      Collect();
      return ASGST_GetClassIdNum(klass) < 0;
    });
  }
  // Loads a class, calls `body` with it, and unloads it.
  ASGST_Class LoadAndUnload(const std::function<void(jclass, ASGST_Class)>& body = {}) {
    jclass mirror = Load();
    const ASGST_Class klass = ASGST_JClassToClass(mirror);
    if (body) body(mirror, klass);
    env_->DeleteLocalRef(mirror);
    EXPECT_TRUE(Unload(klass));
    return klass;
  }
  // All methods that the class has now, by their ids.
  std::vector<ASGST_Method> MethodsOf(jclass klass) {
    std::vector<ASGST_Method> methods;
    for (jmethodID id : MethodIds(klass)) methods.push_back(ASGST_JMethodIDToMethod(id));
    return Sorted(methods);
  }
  static std::vector<ASGST_Method> Sorted(std::vector<ASGST_Method> methods) {
    std::sort(methods.begin(), methods.end());
    return methods;
  }

  JNIEnv* env_ = live_.env();
};

// --- unloading ---

TEST_F(UnloadApi, NothingIsKnownOfAnUnloadedClass) {
  ASGST_Method method = nullptr;
  const ASGST_Class klass = LoadAndUnload([&](jclass mirror, ASGST_Class handle) {
    method = MethodNamed(mirror, "first", "()I");
    EXPECT_EQ(Ask(handle).name, "wh/Gone");
    EXPECT_EQ(Ask(method).name, "first");
  });
  ExpectNothing(klass);
  ExpectNothing(method);
  EXPECT_EQ(ASGST_ClassToJClass(klass), nullptr);
}

// The JVM reuses the memory of unloaded classes for other classes.
TEST_F(UnloadApi, ClassIdNumsAreNeverGivenTwice) {
  std::vector<ASGST_Class> handles;
  std::vector<jlong> numbers;
  for (int i = 0; i < 20; i++) {
    handles.push_back(LoadAndUnload(
        [&](jclass, ASGST_Class klass) { numbers.push_back(ASGST_GetClassIdNum(klass)); }));
  }
  EXPECT_TRUE(std::is_sorted(numbers.begin(), numbers.end()));
  EXPECT_EQ(std::adjacent_find(numbers.begin(), numbers.end()), numbers.end());
  std::sort(handles.begin(), handles.end());
  EXPECT_NE(std::adjacent_find(handles.begin(), handles.end()), handles.end())
      << "no address was used twice: this has shown nothing";
}

TEST_F(UnloadApi, HandlerIsToldOfUnloading) {
  Listener listener;
  jlong idnum = 0;
  std::vector<ASGST_Method> methods;
  const ASGST_Class klass = LoadAndUnload([&](jclass mirror, ASGST_Class handle) {
    idnum = ASGST_GetClassIdNum(handle);
    methods = MethodsOf(mirror);
  });
  ASSERT_EQ(methods.size(), 6U);
  const std::vector<Reported> told = listener.told(klass);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(Sorted(told[0].methods), methods);
  EXPECT_FALSE(told[0].redefined);
  EXPECT_EQ(told[0].idnum, idnum) << "it can still be asked for in the handler";
}

// What unload handlers can tell of classes and methods by their names.
struct NamesOfGone {
  int right = 0, unknown = 0, wrong = 0, classes = 0;
  std::mutex mutex;

  static void Count(ASGST_Class klass, ASGST_Method* methods, int count, bool, void* self) {
    auto* names = static_cast<NamesOfGone*>(self);
    const std::lock_guard<std::mutex> lock(names->mutex);
    const Text name = Ask(klass).name;
    names->classes++;
    names->Add(name, name == "wh/Gone" || name == "wh/Gone$Loader");
    for (int i = 0; i < count; i++) {
      const MethodAnswer answer = Ask(methods[i]);
      names->Add(answer.name, answer.klass == klass && IsOfGone(answer.name.value_or("")));
    }
  }

 private:
  static bool IsOfGone(const std::string& name) {
    const char* const all[] = {"first", "second", "call", "probe", "load", "<init>"};
    return std::find(std::begin(all), std::end(all), name) != std::end(all);
  }
  void Add(const Text& name, bool is_right) {
    (is_right ? right : name.value_or("").empty() ? unknown : wrong)++;
  }
};

// Classes come and go, so that the memory of those that are gone is in use again.
TEST_F(UnloadApi, NamesInAHandlerAreRightOrUnknown) {
  constexpr int kRounds = 5, kClasses = 200;
  NamesOfGone names;
  ASGST_RegisterClassUnloadHandler(NamesOfGone::Count, &names);
  for (int round = 0; round < kRounds; round++) {
    ASSERT_EQ(env_->PushLocalFrame(2 * kClasses), 0);
    for (int i = 0; i < kClasses; i++) Load();
    env_->PopLocalFrame(nullptr);
    Collect();
  }
  LoadAndUnload();
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(NamesOfGone::Count, &names));
  EXPECT_GE(names.classes, kRounds * kClasses / 2);
  EXPECT_EQ(names.wrong, 0);
  if ((asgst_hooks() & ASGST_HOOKS_UNLOADING) != 0) {
    EXPECT_EQ(names.unknown, 0);
    EXPECT_EQ(names.right, 7 * names.classes);
  } else {
    EXPECT_EQ(names.right, 0) << "nothing is certain after the fact";
  }
}

// Heap walks, which bring the JVM to a safepoint for queues, find freed objects, too.
TEST_F(UnloadApi, HandlerIsToldWhileQueuesAreServed) {
  Listener listener;
  RunningMethod other("interpSleep");
  ASGST_Queue* queue = ASGST_RegisterQueue(
      other.env(), 8, 0, [](ASGST_Iterator*, void*, void*) {}, nullptr);
  ASSERT_NE(queue, nullptr);
  std::atomic<bool> done{false};
  std::thread enqueuing([&] {
    while (!done) {
      ASGST_Enqueue(queue, nullptr, nullptr);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  for (int i = 0; i < 20 && !HasFailure(); i++) {
    jlong idnum = 0;
    const ASGST_Class klass =
        LoadAndUnload([&](jclass, ASGST_Class handle) { idnum = ASGST_GetClassIdNum(handle); });
    EXPECT_TRUE(WaitFor([&] {
      const std::vector<Reported> told = listener.told(klass);
      return std::any_of(told.begin(), told.end(),
                         [&](const Reported& t) { return t.idnum == idnum; });
    })) << "round "
        << i;
  }
  done = true;
  enqueuing.join();
  EXPECT_TRUE(ASGST_DeregisterQueue(other.env(), queue));
}

TEST_F(UnloadApi, EachHandlerIsToldOnce) {
  Listener one, two;
  ASGST_RegisterClassUnloadHandler(Listener::OnGone, &two);
  size_t count = 0;
  const ASGST_Class klass =
      LoadAndUnload([&](jclass mirror, ASGST_Class) { count = MethodsOf(mirror).size(); });
  EXPECT_EQ(one.told(klass).size(), 1U);
  ASSERT_EQ(two.told(klass).size(), 2U) << "registered twice";
  EXPECT_EQ(two.told(klass)[1].methods.size(), count);
  EXPECT_NE(two.told(klass)[1].methods[0], nullptr) << "spoiled by the handler before";
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(Listener::OnGone, &two));
}

TEST_F(UnloadApi, DeregisteringTakesHandlerAndArgument) {
  const auto other = [](ASGST_Class, ASGST_Method*, int, bool, void*) {};
  Listener listener;
  int argument = 0;
  EXPECT_FALSE(ASGST_DeregisterClassUnloadHandler(other, &listener));
  EXPECT_FALSE(ASGST_DeregisterClassUnloadHandler(Listener::OnGone, &argument));
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(Listener::OnGone, &listener));
  EXPECT_FALSE(ASGST_DeregisterClassUnloadHandler(Listener::OnGone, &listener)) << "again";
  EXPECT_TRUE(listener.told(LoadAndUnload()).empty());
}

// --- redefinition ---

class RedefineApi : public UnloadApi {
 protected:
  void TearDown() override { Redefine(changing_, 41); }
  int Call(const char* name) {
    return env_->CallStaticIntMethod(changing_, StaticMethod(changing_, name, "()I"));
  }

  // Waits for the handler's `count`th call, which reports that wh.Changing lost these methods.
  void ExpectTold(Listener& listener, size_t count, const std::vector<ASGST_Method>& methods) {
    ASSERT_TRUE(WaitFor([&] { return listener.told(klass_).size() >= count; }));
    EXPECT_EQ(Sorted(listener.told(klass_)[count - 1].methods), methods);
  }

  jclass changing_ = FindTestClass("wh/Changing");
  const ASGST_Class klass_ = ASGST_JClassToClass(changing_);
  jmethodID changed_ = StaticMethod(changing_, "changed", "()I");
  jmethodID kept_ = StaticMethod(changing_, "kept", "()I");
};

// Both versions of a method are alive: one of them runs.
TEST_F(RedefineApi, IdNumsOfAllVersionsAreTheSame) {
  jmethodID stay = StaticMethod(changing_, "stay", "()I");
  const ASGST_Method before = ASGST_JMethodIDToMethod(stay);
  const MethodAnswer answer_before = Ask(before);
  const jlong class_before = ASGST_GetClassIdNum(klass_);
  const jint changed_before = ASGST_GetMethodIdNum(ASGST_JMethodIDToMethod(changed_));
  const jint kept_before = ASGST_GetMethodIdNum(ASGST_JMethodIDToMethod(kept_));

  jfieldID inside = env_->GetStaticFieldID(changing_, "inside", "Z");
  jfieldID leave = env_->GetStaticFieldID(changing_, "leave", "Z");
  RunningMethod in_old([&] {
    JNIEnv* own = live_.env();
    own->CallStaticVoidMethod(changing_, own->GetStaticMethodID(changing_, "runStay", "()V"));
  });
  while (env_->GetStaticBooleanField(changing_, inside) == JNI_FALSE) std::this_thread::yield();
  ASSERT_EQ(Call("changed"), 41);
  Redefine(changing_, 42);
  ASSERT_EQ(Call("changed"), 42);
  Redefine(changing_, 43);  // a second time

  const ASGST_Method after = ASGST_JMethodIDToMethod(stay);
  EXPECT_NE(after, before);
  EXPECT_EQ(ASGST_JClassToClass(changing_), klass_);
  EXPECT_EQ(ASGST_GetClassIdNum(klass_), class_before);
  ASGST_Method seen = nullptr;
  ASSERT_TRUE(in_old.Raise([&](ucontext_t* context) {
    Iterate(context, [&](ASGST_Iterator* iterator) {
      ASGST_Frame frame;
      while (ASGST_NextFrame(iterator, &frame) == 1 && seen == nullptr)
        if (ASGST_GetMethodIdNum(frame.method) == answer_before.idnum &&
            ASGST_GetClass(frame.method) == klass_)
          seen = frame.method;
    });
  }));
  EXPECT_EQ(seen, before) << "the version of stay() that a profiler sees on the thread's stack";
  for (const ASGST_Method version : {before, after}) {
    const MethodAnswer answer = Ask(version);
    EXPECT_EQ(answer.name, "stay");
    EXPECT_EQ(answer.signature, "()I");
    EXPECT_EQ(answer.klass, klass_);
    EXPECT_EQ(answer.idnum, answer_before.idnum);
    EXPECT_EQ(answer.class_idnum, class_before);
    EXPECT_EQ(ASGST_GetMethodIdNum(version), answer_before.idnum);
  }
  EXPECT_EQ(ASGST_GetMethodIdNum(ASGST_JMethodIDToMethod(changed_)), changed_before);
  EXPECT_EQ(ASGST_GetMethodIdNum(ASGST_JMethodIDToMethod(kept_)), kept_before);
  EXPECT_NE(changed_before, kept_before);
  EXPECT_EQ(ASGST_MethodToJMethodID(after), stay);
  EXPECT_NE(ASGST_MethodToJMethodID(before), stay) << "that id leads to the newest";
  env_->SetStaticBooleanField(changing_, leave, JNI_TRUE);
}

// A class of the JDK may come from the CDS archive, where its methods have virtual tables of their
// own; the methods that replace them do not come from there.
TEST_F(RedefineApi, AnOldVersionFromTheArchiveKeepsItsId) {
  jclass optional = FindTestClass("java/util/Optional");
  const jmethodID present =
      env_->GetMethodID(optional, "ifPresent", "(Ljava/util/function/Consumer;)V");
  const std::vector<jbyte> bytes = ClassFile("/java/util/Optional");
  ASSERT_FALSE(bytes.empty());
  jfieldID inside = env_->GetStaticFieldID(changing_, "inside", "Z");
  RunningMethod running([&] {
    JNIEnv* own = live_.env();
    own->CallStaticVoidMethod(changing_, own->GetStaticMethodID(changing_, "runInOptional", "()V"));
  });
  while (env_->GetStaticBooleanField(changing_, inside) == JNI_FALSE) std::this_thread::yield();
  for (const char* when : {"before", "after"}) {
    int seen = 0;
    ASSERT_TRUE(running.Raise([&](ucontext_t* context) {
      ASGST_CallFrame frames[64];
      ASGST_CallTrace trace{0, frames, nullptr};
      AsyncGetStackTrace(&trace, 64, context, 0);
      for (int i = 0; i < trace.num_frames; i++)
        seen += trace.frames[i].java_frame.method_id == present;
    }));
    EXPECT_EQ(seen, 1) << when;
    Redefine(optional, bytes);
  }
  env_->SetStaticBooleanField(changing_, env_->GetStaticFieldID(changing_, "leave", "Z"), JNI_TRUE);
}

TEST_F(RedefineApi, HandlerIsToldOfRedefinition) {
  Listener listener;
  const std::vector<ASGST_Method> before = MethodsOf(changing_);
  Redefine(changing_, 44);
  ExpectTold(listener, 1, before);
  const Reported first = listener.told(klass_).at(0);
  EXPECT_TRUE(first.redefined);
  EXPECT_EQ(first.idnum, ASGST_GetClassIdNum(klass_));
  // The next redefinition replaces the methods that this one has brought.
  const std::vector<ASGST_Method> between = MethodsOf(changing_);
  EXPECT_NE(between, before);
  Redefine(changing_, 45);
  ExpectTold(listener, 2, between);
}

// While the handler runs, the class still has the methods that it learns of.
TEST_F(RedefineApi, HandlerIsToldBeforeTheFact) {
  struct Seen {
    std::atomic<int> calls{0}, named{0}, methods{0};
  } seen;
  const ASGST_ClassUnloadHandler handler = [](ASGST_Class klass, ASGST_Method* methods, int count,
                                              bool, void* self) {
    auto* to = static_cast<Seen*>(self);
    for (int i = 0; i < count; i++)
      if (Ask(methods[i]).name.has_value() && ASGST_GetClass(methods[i]) == klass) to->named++;
    to->methods += count;
    to->calls++;
  };
  ASGST_RegisterClassUnloadHandler(handler, &seen);
  if ((asgst_hooks() & ASGST_HOOKS_UNLOADING) == 0) {
    EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(handler, &seen));
    GTEST_SKIP() << "this JVM does not say it beforehand";
  }
  Redefine(changing_, 50);
  EXPECT_EQ(seen.calls, 1) << "at once";
  Redefine(changing_, 51);
  EXPECT_EQ(seen.calls, 2) << "no version is missed";
  EXPECT_GT(seen.methods, 0);
  EXPECT_EQ(seen.named, seen.methods);
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(handler, &seen));
}

// Retransformation without any transformer replaces the methods all the same.
TEST_F(RedefineApi, HandlerIsToldOfRetransformation) {
  Listener listener;
  const std::vector<ASGST_Method> before = MethodsOf(changing_);
  ASSERT_EQ(TestJvmti()->RetransformClasses(1, &changing_), JVMTI_ERROR_NONE);
  ExpectTold(listener, 1, before);
}

// Redefinitions before the handler was registered are not reported.
TEST_F(RedefineApi, HandlerIsToldOfWhatComesAfterIt) {
  Redefine(changing_, 46);
  Listener listener;
  const std::vector<ASGST_Method> before = MethodsOf(changing_);
  Redefine(changing_, 47);
  ExpectTold(listener, 1, before);
}

// --- from within a handler ---

TEST_F(RedefineApi, HandlersCannotRegister) {
  static bool deregistered;
  static std::atomic<int> calls;
  calls = 0;
  const ASGST_ClassUnloadHandler handler = [](ASGST_Class, ASGST_Method*, int, bool, void* self) {
    const auto own = *static_cast<ASGST_ClassUnloadHandler*>(self);
    deregistered = ASGST_DeregisterClassUnloadHandler(own, self);
    ASGST_RegisterClassUnloadHandler(own, nullptr);
    calls++;
  };
  ASGST_ClassUnloadHandler self = handler;
  ASGST_RegisterClassUnloadHandler(handler, &self);
  Redefine(changing_, 48);
  ASSERT_TRUE(WaitFor([&] { return calls > 0; }));
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(handler, &self));
  EXPECT_FALSE(deregistered);
  EXPECT_FALSE(ASGST_DeregisterClassUnloadHandler(handler, nullptr)) << "it was registered";
}

// Deregistering waits for a call that is under way.
TEST_F(RedefineApi, AfterDeregisteringNoHandlerRuns) {
  struct Slow {
    std::atomic<bool> begun{false}, ended{false};
  } slow;
  const ASGST_ClassUnloadHandler handler = [](ASGST_Class, ASGST_Method*, int, bool, void* self) {
    static_cast<Slow*>(self)->begun = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    static_cast<Slow*>(self)->ended = true;
  };
  ASGST_RegisterClassUnloadHandler(handler, &slow);
  Redefine(changing_, 49);
  ASSERT_TRUE(WaitFor([&] { return slow.begun.load(); }));
  EXPECT_TRUE(ASGST_DeregisterClassUnloadHandler(handler, &slow));
  EXPECT_TRUE(slow.ended);
}

}  // namespace
}  // namespace walkhammer::asgst
