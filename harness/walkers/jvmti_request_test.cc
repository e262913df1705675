// SPDX-License-Identifier: Apache-2.0
// How the walker "request" finds its function among the JVMTI extensions, of which no JDK has it.
#include <gtest/gtest.h>
#include <jvmti.h>
#include <stdio.h>

#include <memory>

#include "harness/walkers/makers.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

jvmtiError requested = JVMTI_ERROR_NONE;  // what the function answers
jint parameters = 3;                      // what the JVM says that it takes
jlong last_user_data = 0;

jvmtiError Request(jvmtiEnv*, jthread, void*, jlong user_data) {
  last_user_data = user_data;
  return requested;
}

jvmtiError JNICALL Extensions(jvmtiEnv*, jint* count, jvmtiExtensionFunctionInfo** infos) {
  static char other[] = "com.sun.hotspot.functions.RequestStackTraces",
              wanted[] = "com.sun.hotspot.functions.RequestStackTrace";
  static jvmtiExtensionFunctionInfo all[2] = {};
  all[0].id = other;
  all[1].id = wanted;
  all[1].func = reinterpret_cast<jvmtiExtensionFunction>(Request);
  all[1].param_count = parameters;
  *count = 2;
  *infos = all;
  return JVMTI_ERROR_NONE;
}

jvmtiInterface_1_ jvmti_functions = [] {
  jvmtiInterface_1_ functions{};
  functions.GetExtensionFunctions = Extensions;
  return functions;
}();
_jvmtiEnv jvmti{&jvmti_functions};

jint JNICALL GetEnv(JavaVM*, void** env, jint) {
  *env = &jvmti;
  return JNI_OK;
}

const JNIInvokeInterface_ vm_functions{nullptr, nullptr, nullptr, nullptr,
                                       nullptr, nullptr, GetEnv,  nullptr};
JavaVM_ vm{&vm_functions};

// Binds in a process of its own, as the function is found once in a process, and walks.
[[noreturn]] void BindAndWalk() {
  const std::unique_ptr<Walker> walker = MakeRequest();
  const Status bound = walker->Bind({nullptr, nullptr, &vm});
  if (!bound.ok()) {
    fprintf(stderr, "%s\n", bound.failure().message.c_str());
    exit(3);
  }
  Trace trace{};
  walker->Walk({nullptr, nullptr, 128, 0}, trace);
  const jlong first = last_user_data;
  walker->Walk({nullptr, nullptr, 128, 0}, trace);
  fprintf(stderr, "code %d, %s\n", trace.num_frames,
          first == last_user_data ? "alike" : "distinct");
  exit(0);
}

TEST(RequestWalkerDeathTest, FindsTheFunctionOfThreeParameters) {
  EXPECT_EXIT(BindAndWalk(), testing::ExitedWithCode(0), "^code 0, distinct");
}

TEST(RequestWalkerDeathTest, RefusesAnotherForm) {
  for (const jint other : {2, 4}) {
    parameters = other;
    EXPECT_EXIT(BindAndWalk(), testing::ExitedWithCode(3),
                "RequestStackTrace with an unknown signature: of " + std::to_string(other));
  }
  parameters = 3;
}

TEST(RequestWalkerDeathTest, TellsTheAnswers) {
  const struct {
    jvmtiError answer;
    const char* code;
  } kAnswers[] = {{JVMTI_ERROR_NOT_AVAILABLE, "^code -1,"},
                  {JVMTI_ERROR_INVALID_THREAD, "^code -2,"},
                  {JVMTI_ERROR_INTERNAL, "^code -1113,"}};
  for (const auto& [answer, code] : kAnswers) {
    requested = answer;
    EXPECT_EXIT(BindAndWalk(), testing::ExitedWithCode(0), code);
  }
  requested = JVMTI_ERROR_NONE;
}

}  // namespace
}  // namespace walkhammer
