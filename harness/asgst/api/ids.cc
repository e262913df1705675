// SPDX-License-Identifier: Apache-2.0
// The functions for methods and classes: see asgst_iterator.h.
#include "harness/asgst/api/ids.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/asgst/process/attach.h"
#include "harness/asgst/process/classes.h"
#include "harness/asgst/process/self_attach.h"
#include "harness/asgst/process/threads.h"
#include "harness/asgst/process/unload_handlers.h"

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

namespace {

uint64_t AddressOf(const void* handle) { return reinterpret_cast<uint64_t>(handle); }

// Reads what handles lead to; lives as long as one call of the API.
class Reader {
 public:
  Reader() : metadata_(known_ ? *IdMetadata() : kNothing, memory_) {}

  const Metadata& metadata() const { return metadata_; }
  // Opens a handle; false if the handle is not a Method of a live class.
  bool Open(ASGST_Method method, MethodView& view) const {
    return known_ && metadata_.Open(AddressOf(method), view) && IsMethod(metadata_, view);
  }

  bool IsClass(ASGST_Class klass) const {
    return known_ && walkhammer::asgst::IsClass(metadata_, AddressOf(klass));
  }

  // Copies a symbol's text into the caller's buffer, as ASGST_MethodInfo says.
  void Copy(uint64_t symbol, char* to, jint& length) const {
    const int32_t whole = symbol == 0 ? -1 : metadata_.Copy(symbol, to, to == nullptr ? 0 : length);
    if (whole < 0 && to != nullptr && length > 0) *to = '\0';
    length = std::max(whole, 0);
  }

 private:
  static const MetadataLayout kNothing;
  const bool known_ = IdMetadata() != nullptr;
  const LiveMemory memory_;
  const Metadata metadata_;
};

constinit const MetadataLayout Reader::kNothing{};

// Unload handlers that came before libasgst was attached. Never destroyed: the JVM outlives static
// objects.
struct WaitingHandlers {
  std::mutex mutex;
  std::vector<std::pair<ASGST_ClassUnloadHandler, void*>> handlers;
};
WaitingHandlers& Waiting() {
  static WaitingHandlers* waiting = new WaitingHandlers;
  return *waiting;
}

}  // namespace

void ASGST_GetMethodInfo(ASGST_Method method, ASGST_MethodInfo* info) {
  if (info == nullptr) return;
  const Reader reader;
  const Metadata& metadata = reader.metadata();
  MethodView view;
  const bool found = reader.Open(method, view);
  info->klass = found ? reinterpret_cast<ASGST_Class>(view.holder) : nullptr;
  reader.Copy(found ? metadata.NameOf(view) : 0, info->method_name, info->method_name_length);
  reader.Copy(found ? metadata.SignatureOf(view) : 0, info->signature, info->signature_length);
  reader.Copy(found ? metadata.GenericSignatureOf(view) : 0, info->generic_signature,
              info->generic_signature_length);
  info->modifiers = found ? metadata.ModifiersOf(view) : -1;
  info->idnum = found ? metadata.IdNumOf(view) : -1;
  info->class_idnum = found ? ASGST_GetClassIdNum(info->klass) : -1;
}

jint ASGST_GetMethodIdNum(ASGST_Method method) {
  const Reader reader;
  MethodView view;
  return reader.Open(method, view) ? reader.metadata().IdNumOf(view) : -1;
}

int ASGST_GetMethodLineNumberTable(ASGST_Method method, ASGST_MethodLineNumberEntry* entries,
                                   int length) {
  const Reader reader;
  MethodView view;
  if (!reader.Open(method, view)) return -1;
  int count = 0;
  LineNumbers lines(reader.metadata(), view);
  for (int32_t bci = 0, line = 0; entries != nullptr && count < length && lines.Next(bci, line);)
    entries[count++] = {.start_bci = bci, .line_number = line};
  return count;
}

jint ASGST_GetMethodLineNumber(ASGST_Method method, jint bci) {
  const Reader reader;
  MethodView view;
  return reader.Open(method, view) ? LineOf(reader.metadata(), view, bci) : -1;
}

void ASGST_GetClassInfo(ASGST_Class klass, ASGST_ClassInfo* info) {
  if (info == nullptr) return;
  const Reader reader;
  const Metadata& metadata = reader.metadata();
  const uint64_t address = AddressOf(klass);
  const bool found = reader.IsClass(klass);
  reader.Copy(found ? metadata.NameOfClass(address) : 0, info->class_name, info->class_name_length);
  reader.Copy(found ? metadata.GenericSignatureOfClass(address) : 0, info->generic_class_name,
              info->generic_class_name_length);
  info->modifiers = found ? metadata.ModifiersOfClass(address) : -1;
  info->idnum = found ? ASGST_GetClassIdNum(klass) : -1;
}

jlong ASGST_GetClassIdNum(ASGST_Class klass) {
  const int64_t number = IdNumOfClass(AddressOf(klass));
  return number == 0 ? -1 : number;
}

ASGST_Class ASGST_GetClass(ASGST_Method method) {
  const Reader reader;
  MethodView view;
  return reader.Open(method, view) ? reinterpret_cast<ASGST_Class>(view.holder) : nullptr;
}

jmethodID ASGST_MethodToJMethodID(ASGST_Method method) {
  if (Live() == nullptr || method == nullptr) return nullptr;
  const LiveMemory memory;
  MethodFacts facts;
  if (!ReadMethod(*Live(), memory, AddressOf(method), facts)) return nullptr;
  return reinterpret_cast<jmethodID>(facts.id);
}

ASGST_Method ASGST_JMethodIDToMethod(jmethodID id) {
  uint64_t method = 0;
  const LiveMemory memory;
  const uint64_t at = AddressOf(id);
  MethodFacts facts;
  if (Live() == nullptr) return nullptr;
  if (Live()->ids_are_numbers)
    method = MethodOfNumber(Live()->table, memory, at);
  else if ((at & 7) != 0 || !memory.ReadWord(at, method))
    return nullptr;
  if (!ReadMethod(*Live(), memory, method, facts) || facts.id != at) return nullptr;
  return reinterpret_cast<ASGST_Method>(method);
}

// In handlers of queues the functions from here on do nothing: their thread may have a JNIEnv, but
// not the state in which JNI and JVMTI are called, and others may wait in there for that thread.
ASGST_Class ASGST_JClassToClass(jclass klass) {
  if (IsProcessing()) return nullptr;
  if (!AttachIfPossible()) TellNotAttached();
  JNIEnv* env = CurrentEnv();
  return env == nullptr ? nullptr : reinterpret_cast<ASGST_Class>(KlassOf(env, klass));
}

jclass ASGST_ClassToJClass(ASGST_Class klass) {
  return CurrentEnv() == nullptr || IsProcessing() ? nullptr : MirrorOf(AddressOf(klass));
}

void ASGST_RegisterClassUnloadHandler(ASGST_ClassUnloadHandler handler, void* arg) {
  if (IsProcessing()) return;
  if (!AttachIfPossible()) {
    WaitingHandlers& waiting = Waiting();
    const std::lock_guard lock(waiting.mutex);
    if (handler != nullptr) waiting.handlers.emplace_back(handler, arg);
    return;
  }
  RegisterWaitingHandlers();
  if (IdMetadata() != nullptr) AddUnloadHandler(TheVm(), handler, arg);
}

void walkhammer::asgst::RegisterWaitingHandlers() {
  WaitingHandlers& waiting = Waiting();
  const std::lock_guard lock(waiting.mutex);
  for (const auto& [handler, arg] : std::exchange(waiting.handlers, {}))
    if (IdMetadata() != nullptr) AddUnloadHandler(TheVm(), handler, arg);
}

bool ASGST_DeregisterClassUnloadHandler(ASGST_ClassUnloadHandler handler, void* arg) {
  if (IsProcessing()) return false;
  WaitingHandlers& waiting = Waiting();
  {
    const std::lock_guard lock(waiting.mutex);
    const auto found = std::find(waiting.handlers.begin(), waiting.handlers.end(),
                                 std::pair<ASGST_ClassUnloadHandler, void*>(handler, arg));
    if (found != waiting.handlers.end()) return waiting.handlers.erase(found), true;
  }
  return IdMetadata() != nullptr && RemoveUnloadHandler(handler, arg);
}
