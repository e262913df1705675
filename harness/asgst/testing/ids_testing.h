// SPDX-License-Identifier: Apache-2.0
// Helpers of the tests of the ids functions: answers as values, and JVMTI's answers to the same
// questions. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_IDS_TESTING_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_IDS_TESTING_H_

#include <gtest/gtest.h>
#include <jvmti.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/testing/live_jvm.h"

namespace walkhammer::asgst {

using Text = std::optional<std::string>;  // none: the text is empty

// Answers of ASGST_GetMethodInfo and ASGST_GetClassInfo, with buffers that are large enough.
struct MethodAnswer {
  ASGST_Class klass;
  Text name, signature, generic;
  jint modifiers, idnum;
  jlong class_idnum;
};
MethodAnswer Ask(ASGST_Method method);

struct ClassAnswer {
  Text name, generic;
  jint modifiers;
  jlong idnum;
};
ClassAnswer Ask(ASGST_Class klass);

// Expects that the ids functions know nothing of `method` or `klass`.
void ExpectNothing(ASGST_Method method);
void ExpectNothing(ASGST_Class klass);

// The tests' own JVMTI environment, which can redefine classes and read line numbers.
jvmtiEnv* TestJvmti();
// A static method of a test class or, if there is no such static method, an instance method.
jmethodID StaticMethod(jclass klass, const char* name, const char* signature);
jclass FindTestClass(const char* name);
// The ASGST_Method of StaticMethod(), by its jmethodID.
ASGST_Method MethodNamed(jclass klass, const char* name, const char* signature);
// Copies a text that JVMTI has allocated, and frees that text.
Text Take(char* text);
// The ids of all methods that a class has now.
std::vector<jmethodID> MethodIds(jclass klass);

constexpr int kRoom = 200, kBefore = 8;
// What a buffer of kRoom bytes '#' must hold after `text` was copied to its byte kBefore, where it
// was said to have `size` bytes.
std::string HeldBy(const std::string& text, int size);

// Loads wh.Ids.
class IdsApi : public LiveTest {
 protected:
  ASGST_Method Method(const char* name, const char* signature) {
    return MethodNamed(ids_, name, signature);
  }
  // Visits all prepared classes of the JVM that are not arrays; returns their number.
  template <typename Visit>
  int ForEachClass(Visit visit) {
    jvmtiEnv* jvmti = TestJvmti();
    jint count = 0;
    jclass* classes = nullptr;
    EXPECT_EQ(jvmti->GetLoadedClasses(&count, &classes), JVMTI_ERROR_NONE);
    int visited = 0;
    for (jint i = 0; i < count; i++) {
      jint status = 0;
      jvmti->GetClassStatus(classes[i], &status);
      if ((status & JVMTI_CLASS_STATUS_PREPARED) != 0) {
        visit(classes[i]);
        visited++;
      }
      env_->DeleteLocalRef(classes[i]);
    }
    jvmti->Deallocate(reinterpret_cast<unsigned char*>(classes));
    return visited;
  }
  template <typename Visit>
  int ForEachMethod(Visit visit) {
    int visited = 0;
    ForEachClass([&](jclass klass) {
      for (jmethodID id : MethodIds(klass)) {
        visit(klass, id);
        visited++;
      }
    });
    return visited;
  }

  JNIEnv* env_ = live_.env();
  jclass ids_ = FindTestClass("wh/Ids");
};

// The class file of a class of package wh, or of "/java/util/Optional" by its path; empty: none.
std::vector<jbyte> ClassFile(const char* name);
void Redefine(jclass klass, const std::vector<jbyte>& bytes);
// Redefines wh.Changing: its methods return `number` instead of 41.
void Redefine(jclass changing, int8_t number);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_IDS_TESTING_H_
