/* SPDX-License-Identifier: Apache-2.0 */
/* The names and values of the documents, in profile.h and profile2.h: fails to compile if one is
   missing or different. Compiled as C and, by names.cc, as C++. */
#include <assert.h>
#include <profile.h>
#include <profile2.h>

static_assert(FRAME_JAVA == 1 && FRAME_JAVA_INLINED == 2 && FRAME_NATIVE == 3 && FRAME_STUB == 4 &&
                  FRAME_CPP == 5,
              "FrameTypeId");
static_assert(NO_JAVA_FRAME == 0 && NO_CLASS_LOAD == -1 && GC_ACTIVE == -2 &&
                  UNKNOWN_NOT_JAVA == -3 && NOT_WALKABLE_NOT_JAVA == -4 && UNKNOWN_JAVA == -5 &&
                  UNKNOWN_STATE == -7 && THREAD_EXIT == -8 && DEOPT == -9 && THREAD_NOT_JAVA == -10,
              "Error");
static_assert(sizeof(FrameTypeId) == 1 && sizeof(CallFrame) == 16 && sizeof(CallTrace) == 24,
              "sizes that clients rely on");

static_assert(ASGST_REGISTER_QUEUE == 1 && ASGST_MARK_FRAME == 2, "ASGST_Capabilities");
static_assert(ASGST_FRAME_JAVA == 1 && ASGST_FRAME_JAVA_INLINED == 2 &&
                  ASGST_FRAME_JAVA_NATIVE == 3 && ASGST_FRAME_NON_JAVA == 4,
              "ASGST_FrameTypeId");
static_assert(ASGST_INCLUDE_NON_JAVA_FRAMES == 1 && ASGST_END_ON_FIRST_JAVA_FRAME == 2,
              "ASGST_Options");
static_assert(ASGST_JAVA_TRACE == 1 && ASGST_NON_JAVA_TRACE == 2, "ASGST_TRACE_KIND");
static_assert(ASGST_NO_FRAME == 0 && ASGST_NO_THREAD == -1 && ASGST_THREAD_EXIT == -2 &&
                  ASGST_UNSAFE_STATE == -3 && ASGST_NO_TOP_JAVA_FRAME == -4 &&
                  ASGST_ENQUEUE_NO_QUEUE == -5 && ASGST_ENQUEUE_FULL_QUEUE == -6 &&
                  ASGST_ENQUEUE_OTHER_ERROR == -7,
              "ASGST_Error");

/* Each type by its name, as clients declare variables of it. */
struct Named {
  enum Error error;
  FrameTypeId type;
  JavaFrame java;
  NonJavaFrame other;
  CallFrame frame;
  CallTrace trace;
  enum ASGST_Capabilities capabilities;
  enum ASGST_FrameTypeId frame_type;
  enum ASGST_Options options;
  enum ASGST_TRACE_KIND kind;
  enum ASGST_Error asgst_error;
  ASGST_Frame asgst_frame;
  ASGST_Iterator* iterator;
  ASGST_IteratorHandler iterator_handler;
  ASGST_Method method;
  ASGST_Class klass;
  ASGST_MethodInfo method_info;
  ASGST_ClassInfo class_info;
  ASGST_MethodLineNumberEntry line;
  ASGST_ClassUnloadHandler unload_handler;
  ASGST_Queue* queue;
  ASGST_QueueElement element;
  ASGST_QueueSizeInfo size;
  ASGST_Handler handler;
  ASGST_OnQueueSafepointHandler around_handler;
  ASGST_FrameMark* mark;
  ASGST_FrameMarkHandler mark_handler;
};

/* Each function with the parameters of the documents. */
struct Functions {
  void(JNICALL* get_stack_trace)(CallTrace*, jint, void*, uint32_t);
  void(JNICALL* get_call_trace2)(CallTrace*, jint, void*, uint32_t);
  int(JNICALL* capabilities)(void);
  int(JNICALL* thread_state)(void);
  int(JNICALL* run)(void*, int32_t, ASGST_IteratorHandler, void*);
  int(JNICALL* run_from_frame)(void*, void*, void*, int, ASGST_IteratorHandler, void*);
  int(JNICALL* next)(ASGST_Iterator*, ASGST_Frame*);
  void(JNICALL* rewind)(ASGST_Iterator*);
  int(JNICALL* state)(ASGST_Iterator*);
  void(JNICALL* method_info)(ASGST_Method, ASGST_MethodInfo*);
  jint(JNICALL* method_number)(ASGST_Method);
  void(JNICALL* class_info)(ASGST_Class, ASGST_ClassInfo*);
  jlong(JNICALL* class_number)(ASGST_Class);
  int(JNICALL* lines)(ASGST_Method, ASGST_MethodLineNumberEntry*, int);
  jmethodID(JNICALL* id_of)(ASGST_Method);
  ASGST_Method(JNICALL* method_of)(jmethodID);
  jclass(JNICALL* mirror_of)(ASGST_Class);
  ASGST_Class(JNICALL* class_of)(jclass);
  void(JNICALL* on_unload)(ASGST_ClassUnloadHandler, void*);
  bool(JNICALL* no_unload)(ASGST_ClassUnloadHandler, void*);
  ASGST_Queue*(JNICALL* new_queue)(JNIEnv*, int, int, ASGST_Handler, void*);
  bool(JNICALL* end_queue)(JNIEnv*, ASGST_Queue*);
  int(JNICALL* enqueue)(ASGST_Queue*, void*, void*);
  int(JNICALL* enqueuable)(void*, ASGST_QueueElement*);
  ASGST_QueueElement*(JNICALL* element)(ASGST_Queue*, int);
  ASGST_QueueSizeInfo(JNICALL* size_info)(ASGST_Queue*);
  int(JNICALL* size)(ASGST_Queue*);
  void(JNICALL* resize)(ASGST_Queue*, int);
  void(JNICALL* before)(ASGST_Queue*, int, bool, ASGST_OnQueueSafepointHandler, void*);
  void(JNICALL* after)(ASGST_Queue*, int, bool, ASGST_OnQueueSafepointHandler, void*);
  ASGST_FrameMark*(JNICALL* new_mark)(JNIEnv*, ASGST_FrameMarkHandler, int, void*);
  void(JNICALL* move_mark)(ASGST_FrameMark*, void*);
  void*(JNICALL* marked)(ASGST_FrameMark*);
  void(JNICALL* end_mark)(ASGST_FrameMark*);
};

const struct Functions* AllFunctions(void);
const struct Functions* AllFunctions(void) {
  static const struct Functions all = {
      AsyncGetStackTrace,
      AsyncGetCallTrace2,
      ASGST_Capabilities,
      ASGST_ThreadState,
      ASGST_RunWithIterator,
      ASGST_RunWithIteratorFromFrame,
      ASGST_NextFrame,
      ASGST_RewindIterator,
      ASGST_State,
      ASGST_GetMethodInfo,
      ASGST_GetMethodIdNum,
      ASGST_GetClassInfo,
      ASGST_GetClassIdNum,
      ASGST_GetMethodLineNumberTable,
      ASGST_MethodToJMethodID,
      ASGST_JMethodIDToMethod,
      ASGST_ClassToJClass,
      ASGST_JClassToClass,
      ASGST_RegisterClassUnloadHandler,
      ASGST_DeregisterClassUnloadHandler,
      ASGST_RegisterQueue,
      ASGST_DeregisterQueue,
      ASGST_Enqueue,
      ASGST_GetEnqueuableElement,
      ASGST_GetQueueElement,
      ASGST_GetQueueSizeInfo,
      ASGST_QueueSize,
      ASGST_ResizeQueue,
      ASGST_SetOnQueueProcessingStart,
      ASGST_SetOnQueueProcessingEnd,
      ASGST_RegisterFrameMark,
      ASGST_MoveFrameMark,
      ASGST_GetFrameMarkStackPointer,
      ASGST_RemoveFrameMark,
  };
  return &all;
}
