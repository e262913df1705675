// SPDX-License-Identifier: Apache-2.0
// The live examination of the ids functions of provider jdk, on a known method and a known class.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_IDS_EXAM_H_
#define WALKHAMMER_HARNESS_WALKERS_IDS_EXAM_H_

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/result.h"
#include "harness/walkers/jdk_iterator.h"

namespace walkhammer {

// The ids functions. Those behind `class_of` are null where the build lacks them.
struct IdsApi {
  decltype(&ASGST_GetMethodInfo) method_info = nullptr;
  decltype(&ASGST_GetMethodIdNum) method_number = nullptr;
  decltype(&ASGST_GetMethodLineNumberTable) lines = nullptr;
  decltype(&ASGST_GetMethodLineNumber) line = nullptr;
  decltype(&ASGST_GetClassInfo) class_info = nullptr;
  decltype(&ASGST_GetClassIdNum) class_number = nullptr;
  decltype(&ASGST_GetClass) class_of = nullptr;
  decltype(&ASGST_MethodToJMethodID) id_of = nullptr;
  decltype(&ASGST_JMethodIDToMethod) method_of = nullptr;
  decltype(&ASGST_JClassToClass) class_of_object = nullptr;
  decltype(&ASGST_ClassToJClass) object_of = nullptr;
  decltype(&ASGST_RegisterClassUnloadHandler) add_handler = nullptr;
  decltype(&ASGST_DeregisterClassUnloadHandler) remove_handler = nullptr;
};

// kUnable: the library lacks a function that returns facts, or its frames hold jmethodIDs, which
// those functions do not take.
Result<IdsApi> FindIdsApi(const ProviderLibrary& library, const JdkIterator& iterator);

// Examines the functions on the calling thread, which must be attached to `vm`. Returns what is
// wrong with them, as a string literal; null: nothing. Fails as CallRounds does.
Result<const char*> ExamineIds(const IdsApi& api, const JdkIterator& iterator, JavaVM* vm);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_IDS_EXAM_H_
