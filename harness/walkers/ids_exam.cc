// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/ids_exam.h"

#include <ucontext.h>

#include <cstring>
#include <string_view>

#include "harness/walkers/java_rounds.h"

namespace walkhammer {
namespace {

constexpr int kTextRoom = 64, kMostSearched = 16;
constexpr jint kPublicStatic = 0x9;

struct IdsExam {
  const IdsApi& api;
  const JdkIterator& iterator;
  RoundMethods methods;
  ASGST_Method inner = nullptr;
  const char* complaint = nullptr;
};

void FindInner(ASGST_Iterator* iterator, void* data) {
  auto& exam = *static_cast<IdsExam*>(data);
  ASGST_Frame frame{};
  for (int i = 0; i < kMostSearched && exam.iterator.api.next(iterator, &frame) == 1; i++)
    if (frame.type != ASGST_FRAME2_NON_JAVA &&
        exam.iterator.IdOf(frame.method) == exam.methods.inner)
      exam.inner = frame.method;
}

bool IsText(const char* text, jint length, std::string_view expected) {
  return text != nullptr && length == static_cast<jint>(expected.size()) && expected == text;
}

const char* WrongNames(const IdsApi& api, ASGST_Method method) {
  char name[kTextRoom] = "", signature[kTextRoom] = "", klass[kTextRoom] = "";
  ASGST_MethodInfo info{};
  info.method_name = name;
  info.signature = signature;
  info.method_name_length = info.signature_length = kTextRoom;
  api.method_info(method, &info);
  if (!IsText(info.method_name, info.method_name_length, RoundMethods::kInner) ||
      !IsText(info.signature, info.signature_length, RoundMethods::kSignature))
    return "GetMethodInfo names another method than the known one";
  if (info.modifiers != kPublicStatic)
    return "GetMethodInfo has other modifiers than the class file";
  if (info.idnum != api.method_number(method))
    return "GetMethodIdNum and GetMethodInfo return different numbers";
  ASGST_ClassInfo of_class{};
  of_class.class_name = klass;
  of_class.class_name_length = kTextRoom;
  api.class_info(info.klass, &of_class);
  if (!IsText(of_class.class_name, of_class.class_name_length, RoundMethods::kClass))
    return "GetClassInfo names another class than the known one";
  if (info.klass != api.class_of(method) || info.class_idnum != of_class.idnum ||
      of_class.idnum != api.class_number(info.klass))
    return "GetMethodInfo and GetClassInfo return different classes or numbers";
  return nullptr;
}

const char* WrongLines(const IdsApi& api, ASGST_Method method) {
  ASGST_MethodLineNumberEntry entries[4] = {};
  if (api.lines(method, entries, 4) != 2 || entries[0].start_bci != 0 ||
      entries[0].line_number != RoundMethods::kFirstLine ||
      entries[1].start_bci != RoundMethods::kInnerBci ||
      entries[1].line_number != RoundMethods::kCallLine)
    return "GetMethodLineNumberTable differs from the class file";
  if (api.line(method, RoundMethods::kInnerBci) != RoundMethods::kCallLine ||
      api.line(method, RoundMethods::kInnerBci - 1) != RoundMethods::kFirstLine)
    return "GetMethodLineNumber differs from the class file";
  return nullptr;
}

const char* WrongConversions(const IdsApi& api, const RoundMethods& methods, ASGST_Method method) {
  if (api.id_of != nullptr && api.id_of(method) != methods.inner)
    return "MethodToJMethodID converts to another jmethodID";
  if (api.method_of != nullptr && api.method_of(methods.inner) != method)
    return "JMethodIDToMethod converts to another method";
  if (api.class_of_object != nullptr && api.class_of_object(methods.klass) != api.class_of(method))
    return "JClassToClass converts to another class";
  return nullptr;
}

void IgnoreUnloading(ASGST_Class, ASGST_Method*, int, bool, void*) {}

const char* WrongHandlers(const IdsApi& api) {
  if (api.add_handler == nullptr || api.remove_handler == nullptr) return nullptr;
  static int own = 0;
  api.add_handler(IgnoreUnloading, &own);
  if (!api.remove_handler(IgnoreUnloading, &own))
    return "DeregisterClassUnloadHandler does not know the handler";
  if (api.remove_handler(IgnoreUnloading, &own))
    return "DeregisterClassUnloadHandler removes nothing twice";
  return nullptr;
}

const char* WrongFacts(IdsExam& exam, JNIEnv* env) {
  ucontext_t context;
  getcontext(&context);
  exam.iterator.api.run(&context, 0, FindInner, &exam);
  if (exam.inner == nullptr) return "the iterator does not return the known method";
  const char* wrong = WrongNames(exam.api, exam.inner);
  if (wrong == nullptr) wrong = WrongLines(exam.api, exam.inner);
  if (wrong == nullptr) wrong = WrongConversions(exam.api, exam.methods, exam.inner);
  if (wrong == nullptr) wrong = WrongHandlers(exam.api);
  if (wrong != nullptr || exam.api.object_of == nullptr) return wrong;
  const jclass object = exam.api.object_of(exam.api.class_of(exam.inner));
  if (object == nullptr || env->IsSameObject(object, exam.methods.klass) == JNI_FALSE)
    return "ClassToJClass converts to another class";
  return nullptr;
}

}  // namespace

Result<IdsApi> FindIdsApi(const ProviderLibrary& library, const JdkIterator& iterator) {
  const std::string& prefix = iterator.prefix;
  if (iterator.drift.method_is_id)
    return Unable("this iterator's frames hold jmethodIDs, which the ids functions do not take");
  IdsApi api;
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto& function) {
    library.Find(prefix + name, function);
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find("GetMethodInfo", api.method_info);
  find("GetMethodIdNum", api.method_number);
  find("GetMethodLineNumberTable", api.lines);
  find("GetMethodLineNumber", api.line);
  find("GetClassInfo", api.class_info);
  find("GetClassIdNum", api.class_number);
  find("GetClass", api.class_of);
  if (missing != nullptr) return library.Lacks(prefix + missing);
  find("MethodToJMethodID", api.id_of);
  find("JMethodIDToMethod", api.method_of);
  find("JClassToClass", api.class_of_object);
  find("ClassToJClass", api.object_of);
  find("RegisterClassUnloadHandler", api.add_handler);
  find("DeregisterClassUnloadHandler", api.remove_handler);
  return api;
}

Result<const char*> ExamineIds(const IdsApi& api, const JdkIterator& iterator, JavaVM* vm) {
  JNIEnv* env = nullptr;
  vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8);
  IdsExam exam{api, iterator, {}};
  const auto inside = [&](const RoundMethods& methods) {
    exam.methods = methods;
    exam.complaint = WrongFacts(exam, env);
  };
  RETURN_IF_ERROR(CallRounds(vm, 1, inside, [] {}));
  return exam.complaint;
}

}  // namespace walkhammer
