// What the tests of the ids functions share: answers as values, JVMTI's word on the same.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_REFERENCE_TESTING_IDS_TESTING_H_
#define WALKHAMMER_HARNESS_REFERENCE_TESTING_IDS_TESTING_H_

#include <jvmti.h>

#include <optional>
#include <string>
#include <vector>

#include "harness/reference/profile2.h"
#include "harness/reference/testing/live_jvm.h"

namespace walkhammer {

using Text = std::optional<std::string>;  // none: the field is null

// What ASGST_GetMethodInfo and ASGST_GetClassInfo answer, with buffers that are large enough.
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

// Nothing is known of it.
void ExpectNothing(ASGST_Method method);
void ExpectNothing(ASGST_Class klass);

// The tests' own JVMTI environment, which can redefine classes and read line numbers.
jvmtiEnv* TestJvmti();
// A static method of a class of the tests.
jmethodID StaticMethod(jclass klass, const char* name, const char* signature);
jclass FindTestClass(const char* name);
// Through the method's jmethodID, which exists.
ASGST_Method MethodNamed(jclass klass, const char* name, const char* signature);
// JVMTI's texts, freed.
Text Take(char* text);

// Redefines wh.Changing: its methods answer `number` instead of 41.
void Redefine(jclass changing, int8_t number);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REFERENCE_TESTING_IDS_TESTING_H_
