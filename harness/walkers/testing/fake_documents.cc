// SPDX-License-Identifier: Apache-2.0
// A fake of a JDK that exports the documents' APIs: iterator, ids, queues, frame marks, over
// libasgst.so. FAKE_OLDER: in an older form, with prefix JFRLL_, the older numbering of errors,
// elements that are returned by value, and handlers of processings that get no iterator. One of the
// FAKE_..._BUGs below: with that bug. Signal-safe: as libasgst's functions; asgst_attach no.
#include <dlfcn.h>

#include <atomic>
#include <thread>
#include <utility>

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/include/asgst_iterator.h"

#ifdef FAKE_OLDER
#define API(name) JFRLL_##name
#else
#define API(name) ASGST_##name
#endif

namespace {

void* library = nullptr;

// The function of this name in libasgst. Signal-safe: no, so asgst_attach looks all of them up.
template <typename Function>
Function* Real(Function*, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define FUNCTIONS(F)              \
  F(Capabilities)                 \
  F(RunWithIterator)              \
  F(RunWithIteratorFromFrame)     \
  F(NextFrame)                    \
  F(GetMethodInfo)                \
  F(GetMethodIdNum)               \
  F(GetMethodLineNumberTable)     \
  F(GetMethodLineNumber)          \
  F(GetClassInfo)                 \
  F(GetClassIdNum)                \
  F(GetClass)                     \
  F(MethodToJMethodID)            \
  F(JMethodIDToMethod)            \
  F(JClassToClass)                \
  F(ClassToJClass)                \
  F(RegisterClassUnloadHandler)   \
  F(DeregisterClassUnloadHandler) \
  F(RegisterQueue)                \
  F(DeregisterQueue)              \
  F(Enqueue)                      \
  F(GetEnqueuableElement)         \
  F(GetQueueElement)              \
  F(GetQueueSizeInfo)             \
  F(ResizeQueue)                  \
  F(SetOnQueueProcessingStart)    \
  F(SetOnQueueProcessingEnd)      \
  F(RegisterFrameMark)            \
  F(MoveFrameMark)                \
  F(GetFrameMarkStackPointer)     \
  F(RemoveFrameMark)
#define DECLARE(name) decltype(&ASGST_##name) real##name = nullptr;
FUNCTIONS(DECLARE)

#ifdef FAKE_OLDER
// The older numbering has NO_CLASS_LOAD at -4.
int Code(int code) { return code <= ASGST_NO_TOP_JAVA_FRAME && code >= -7 ? code - 1 : code; }
#else
int Code(int code) { return code; }
#endif

// What the real handlers call: the client's, each with its argument.
struct Client {
  ASGST_Handler element;
  ASGST_FrameMarkHandler mark;
  void* argument;
  std::atomic<int> calls{0};
};

void OnElement(ASGST_Iterator* iterator, void* client, void* argument) {
  auto& to = *static_cast<Client*>(client);
  const int call = to.calls++;
#ifdef FAKE_LOSES_ELEMENT_BUG
  if (call % 100 == 99) return;
#endif
#ifdef FAKE_TWICE_BUG
  if (call % 100 == 99) to.element(iterator, to.argument, argument);
#endif
#ifdef FAKE_ORDER_BUG
  static void* held = nullptr;
  if (call % 100 == 98) return void(held = argument);
  to.element(iterator, to.argument, argument);
  if (call % 100 == 99) to.element(iterator, to.argument, held);
  return;
#endif
#ifdef FAKE_OTHER_THREAD_BUG
  if (call % 100 == 99)
    return std::thread([&] { to.element(iterator, to.argument, argument); }).join();
#endif
#ifdef FAKE_OTHER_FRAME_BUG
  ASGST_Frame skipped;
  if (call % 100 == 99) realNextFrame(iterator, &skipped);
#endif
  (void)call;
  to.element(iterator, to.argument, argument);
}

#ifdef FAKE_LATE_MARK_BUG
ASGST_FrameMark* late = nullptr;
#endif
#ifdef FAKE_NO_NATIVE_FRAME_BUG
thread_local bool ends_early = false;  // an iterator runs that is to end at the first Java frame
#endif
Client* of_marks = nullptr;

void OnMark(ASGST_FrameMark* mark, ASGST_Iterator* iterator, void* client) {
  auto& to = *static_cast<Client*>(client);
#ifdef FAKE_LATE_MARK_BUG
  if (to.calls++ % 20 == 19) return void(late = mark);  // the next MoveFrameMark calls
#endif
#ifdef FAKE_MARK_THREAD_BUG
  if (to.calls++ % 20 == 19)
    return std::thread([&] { to.mark(mark, iterator, to.argument); }).join();
#endif
  to.mark(mark, iterator, to.argument);
}

}  // namespace

extern "C" {

JNIEXPORT jint JNICALL asgst_attach(JavaVM* vm) {
  library = dlopen(WALKHAMMER_LIBASGST, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return -1;
#define FIND(name) real##name = Real(real##name, "ASGST_" #name);
  FUNCTIONS(FIND)
  auto* attach = reinterpret_cast<decltype(&asgst_attach)>(dlsym(library, "asgst_attach"));
  auto* wait = reinterpret_cast<decltype(&asgst_wait_for_c_frames)>(
      dlsym(library, "asgst_wait_for_c_frames"));
  const jint result = attach(vm);
  if (result == 0) wait(10'000);
  return result;
}

// --- the iterator ---

JNIEXPORT int JNICALL API(Capabilities)() {
#ifdef FAKE_WITHOUT_MARKS
  return ASGST_REGISTER_QUEUE;
#else
  return realCapabilities();
#endif
}
JNIEXPORT int JNICALL API(RunWithIterator)(void* context, int32_t options,
                                           ASGST_IteratorHandler fun, void* argument) {
#ifdef FAKE_NO_NATIVE_FRAME_BUG
  ends_early = (options & ASGST_END_ON_FIRST_JAVA_FRAME) != 0;
  const int result = realRunWithIterator(context, options, fun, argument);
  ends_early = false;
  return result;
#else
  return Code(realRunWithIterator(context, options, fun, argument));
#endif
}
JNIEXPORT int JNICALL API(RunWithIteratorFromFrame)(void* sp, void* fp, void* pc, int options,
                                                    ASGST_IteratorHandler fun, void* argument) {
  return Code(realRunWithIteratorFromFrame(sp, fp, pc, options, fun, argument));
}
JNIEXPORT int JNICALL API(NextFrame)(ASGST_Iterator* iterator, ASGST_Frame* frame) {
#ifdef FAKE_NO_NATIVE_FRAME_BUG
  if (ends_early) return ASGST_NO_TOP_JAVA_FRAME;
#endif
  return Code(realNextFrame(iterator, frame));
}

// --- ids ---

JNIEXPORT void JNICALL API(GetMethodInfo)(ASGST_Method method, ASGST_MethodInfo* info) {
  realGetMethodInfo(method, info);
#ifdef FAKE_NULL_TEXTS
  // As the document has it: what is not available is null. The length is as it was.
  if (info->generic_signature_length == 0) {
    info->generic_signature = nullptr;
    info->generic_signature_length = 77;
  }
#endif
#ifdef FAKE_NAME_BUG
  if (info->method_name_length > 0 && info->method_name != nullptr) info->method_name[0] ^= 1;
#endif
}
JNIEXPORT jint JNICALL API(GetMethodIdNum)(ASGST_Method method) {
#ifdef FAKE_ID_BUG
  return realGetMethodIdNum(method) + 1;
#else
  return realGetMethodIdNum(method);
#endif
}
JNIEXPORT int JNICALL API(GetMethodLineNumberTable)(ASGST_Method method,
                                                    ASGST_MethodLineNumberEntry* entries,
                                                    int length) {
  const int count = realGetMethodLineNumberTable(method, entries, length);
#ifdef FAKE_LINES_BUG
  // As the prototype does it.
  for (int i = 0; i < count; i++) std::swap(entries[i].start_bci, entries[i].line_number);
#endif
  return count;
}
JNIEXPORT jint JNICALL API(GetMethodLineNumber)(ASGST_Method method, jint bci) {
  return realGetMethodLineNumber(method, bci);
}
JNIEXPORT void JNICALL API(GetClassInfo)(ASGST_Class klass, ASGST_ClassInfo* info) {
#ifdef FAKE_OVERRUN_BUG
  // A NUL behind the buffer, as strncpy's users write it.
  const jint size = info->class_name_length;
  realGetClassInfo(klass, info);
  if (info->class_name != nullptr && info->class_name_length >= size) info->class_name[size] = '\0';
#else
  realGetClassInfo(klass, info);
#endif
}
JNIEXPORT jlong JNICALL API(GetClassIdNum)(ASGST_Class klass) { return realGetClassIdNum(klass); }
JNIEXPORT ASGST_Class JNICALL API(GetClass)(ASGST_Method method) { return realGetClass(method); }
JNIEXPORT jmethodID JNICALL API(MethodToJMethodID)(ASGST_Method method) {
  return realMethodToJMethodID(method);
}
JNIEXPORT ASGST_Method JNICALL API(JMethodIDToMethod)(jmethodID id) {
  return realJMethodIDToMethod(id);
}
JNIEXPORT ASGST_Class JNICALL API(JClassToClass)(jclass klass) { return realJClassToClass(klass); }
JNIEXPORT jclass JNICALL API(ClassToJClass)(ASGST_Class klass) {
#ifdef FAKE_CLASS_BUG
  return static_cast<void>(klass), nullptr;
#else
  return realClassToJClass(klass);
#endif
}
JNIEXPORT void JNICALL API(RegisterClassUnloadHandler)(ASGST_ClassUnloadHandler handler,
                                                       void* argument) {
  realRegisterClassUnloadHandler(handler, argument);
}
JNIEXPORT bool JNICALL API(DeregisterClassUnloadHandler)(ASGST_ClassUnloadHandler handler,
                                                         void* argument) {
  return realDeregisterClassUnloadHandler(handler, argument);
}

// --- queues ---

JNIEXPORT ASGST_Queue* JNICALL API(RegisterQueue)(JNIEnv* env, int size, int options,
                                                  ASGST_Handler fun, void* argument) {
  return realRegisterQueue(env, size, options, OnElement, new Client{fun, nullptr, argument});
}
JNIEXPORT bool JNICALL API(DeregisterQueue)(JNIEnv* env, ASGST_Queue* queue) {
  return realDeregisterQueue(env, queue);
}
JNIEXPORT int JNICALL API(Enqueue)(ASGST_Queue* queue, void* context, void* argument) {
#ifdef FAKE_NOTHING_QUEUED_BUG
  // As a prototype does it: the trace's kind, though nothing is put in.
  static std::atomic<int> calls{0};
  if (calls++ % 100 == 99) return ASGST_JAVA_TRACE;
#endif
  return Code(realEnqueue(queue, context, argument));
}
JNIEXPORT int JNICALL API(GetEnqueuableElement)(void* context, ASGST_QueueElement* element) {
  const int result = realGetEnqueuableElement(context, element);
#ifdef FAKE_ELEMENT_BUG
  element->sp = static_cast<char*>(element->sp) + 8;
#endif
  return Code(result);
}
#ifdef FAKE_OLDER
JNIEXPORT ASGST_QueueElement JNICALL API(GetQueueElement)(ASGST_Queue* queue, int n) {
  const ASGST_QueueElement* element = realGetQueueElement(queue, n);
  return element == nullptr ? ASGST_QueueElement{} : *element;
}
JNIEXPORT void JNICALL API(SetOnQueueProcessingStart)(ASGST_Queue* queue, int options,
                                                      ASGST_OnQueueSafepointHandler fun,
                                                      void* argument) {
  realSetOnQueueProcessingStart(queue, options, true, fun, argument);
}
JNIEXPORT void JNICALL API(SetOnQueueProcessingEnd)(ASGST_Queue* queue, int options,
                                                    ASGST_OnQueueSafepointHandler fun,
                                                    void* argument) {
  realSetOnQueueProcessingEnd(queue, options, true, fun, argument);
}
#else
JNIEXPORT ASGST_QueueElement* JNICALL API(GetQueueElement)(ASGST_Queue* queue, int n) {
  return realGetQueueElement(queue, n);
}
JNIEXPORT void JNICALL API(SetOnQueueProcessingStart)(ASGST_Queue* queue, int options, bool offer,
                                                      ASGST_OnQueueSafepointHandler fun,
                                                      void* argument) {
  realSetOnQueueProcessingStart(queue, options, offer, fun, argument);
}
JNIEXPORT void JNICALL API(SetOnQueueProcessingEnd)(ASGST_Queue* queue, int options, bool offer,
                                                    ASGST_OnQueueSafepointHandler fun,
                                                    void* argument) {
#ifdef FAKE_NO_END_BUG
  fun = nullptr;
#endif
  realSetOnQueueProcessingEnd(queue, options, offer, fun, argument);
}
#endif
JNIEXPORT ASGST_QueueSizeInfo JNICALL API(GetQueueSizeInfo)(ASGST_Queue* queue) {
  return realGetQueueSizeInfo(queue);
}
JNIEXPORT void JNICALL API(ResizeQueue)(ASGST_Queue* queue, int size) {
#ifdef FAKE_RESIZE_BUG
  size = 0;
#endif
  realResizeQueue(queue, size);
}

// --- marks ---

JNIEXPORT ASGST_FrameMark* JNICALL API(RegisterFrameMark)(JNIEnv* env, ASGST_FrameMarkHandler fun,
                                                          int options, void* argument) {
  of_marks = new Client{nullptr, fun, argument};
  return realRegisterFrameMark(env, OnMark, options, of_marks);
}
JNIEXPORT void JNICALL API(MoveFrameMark)(ASGST_FrameMark* mark, void* sp) {
#ifdef FAKE_LATE_MARK_BUG
  if (ASGST_FrameMark* const was = late; was != nullptr) {
    late = nullptr;
    of_marks->mark(was, nullptr, of_marks->argument);
  }
#endif
  realMoveFrameMark(mark, sp);
#ifdef FAKE_EARLY_MARK_BUG
  static std::atomic<int> calls{0};
  if (sp != nullptr && calls++ % 20 == 19) of_marks->mark(mark, nullptr, of_marks->argument);
#endif
}
JNIEXPORT void* JNICALL API(GetFrameMarkStackPointer)(ASGST_FrameMark* mark) {
#ifdef FAKE_MARK_BUG
  return static_cast<char*>(realGetFrameMarkStackPointer(mark)) + 8;
#else
  return realGetFrameMarkStackPointer(mark);
#endif
}
JNIEXPORT void JNICALL API(RemoveFrameMark)(ASGST_FrameMark* mark) { realRemoveFrameMark(mark); }
}
