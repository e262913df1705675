/* SPDX-License-Identifier: Apache-2.0 */
/* The ASGST API that came after JEP 435's draft, as far as libasgst.so implements it on a stock
   JDK: the iterator, the states, what there is to know of methods and classes, and safepoint
   queues. Our own declarations, by the documents' facts. Begin with asgst_attach (asgst.h).

   Signal-safe: all of it that does not say otherwise, where SIGSEGV and SIGBUS are not blocked and
   lead to the JVM. */
#ifndef WALKHAMMER_ASGST_ITERATOR_H
#define WALKHAMMER_ASGST_ITERATOR_H

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bit map of what else there is: ASGST_REGISTER_QUEUE 1, ASGST_MARK_FRAME 2. The first. */
enum { ASGST_REGISTER_QUEUE = 1, ASGST_MARK_FRAME = 2 };
JNIEXPORT int JNICALL ASGST_Capabilities(void);

/* The current thread's: a subset of JVMTI's thread state (alive, runnable, blocked, in native);
   0 for a thread that is none of the JVM's. */
JNIEXPORT int JNICALL ASGST_ThreadState(void);

/* ASGST_Frame.type; JAVA, JAVA_INLINED and NATIVE have the values of asgst.h */
enum {
  ASGST_FRAME2_JAVA = 1,
  ASGST_FRAME2_JAVA_INLINED = 2,
  ASGST_FRAME2_JAVA_NATIVE = 3,
  ASGST_FRAME2_NON_JAVA = 4
};

/* options */
enum { ASGST_INCLUDE_NON_JAVA_FRAMES = 1, ASGST_END_ON_FIRST_JAVA_FRAME = 2 };

/* kinds of traces */
enum { ASGST_JAVA_TRACE = 1, ASGST_NON_JAVA_TRACE = 2 };

enum {
  ASGST_NO_FRAME = 0,           /* the end */
  ASGST_NO_THREAD = -1,         /* the current thread is none of the JVM's */
  ASGST_THREAD_IS_EXITING = -2, /* never; ASGST_THREAD_EXIT in the documents */
  ASGST_UNSAFE_STATE = -3,
  ASGST_NO_TOP_JAVA_FRAME = -4, /* there is none, or where the thread stands makes no sense */
  ASGST_ENQUEUE_NO_QUEUE = -5,
  ASGST_ENQUEUE_FULL_QUEUE = -6,
  ASGST_ENQUEUE_OTHER_ERROR = -7,
  /* lower than -16: this implementation's */
  ASGST_BROKEN_STACK = -17, /* frames came, then the stack made no sense any more */
  ASGST_NOT_ATTACHED = -18  /* asgst_attach was not called, or failed */
};

typedef struct ASGST_MethodOpaque* ASGST_Method;
typedef struct ASGST_ClassOpaque* ASGST_Class;
typedef struct ASGST_IteratorOpaque ASGST_Iterator;

typedef struct {
  uint8_t type;
  int comp_level; /* 0 interpreted, 1 to 3 C1, 4 C2; -1 undefined */
  int bci;        /* -1: none, as in native methods */
  ASGST_Method method;
  void *pc, *sp, *fp; /* of the activation; inlined frames have that of the one they are in */
} ASGST_Frame;

typedef void (*ASGST_IteratorHandler)(ASGST_Iterator*, void* argument);

/* Calls `fun` with an iterator over the current thread's frames as `ucontext` shows it; the
   iterator lives as long as the call. The trace's kind, or an error, without a call. */
JNIEXPORT int JNICALL ASGST_RunWithIterator(void* ucontext, int32_t options,
                                            ASGST_IteratorHandler fun, void* argument);
/* ASGST_RunWithIterator from a frame that the caller knows: its stack pointer, frame pointer and
   pc. Any values may be given. */
JNIEXPORT int JNICALL ASGST_RunWithIteratorFromFrame(void* sp, void* fp, void* pc, int options,
                                                     ASGST_IteratorHandler fun, void* argument);

/* 1 and the next frame; 0 at the end; or an error: then all of the frame is null. With
   ASGST_END_ON_FIRST_JAVA_FRAME also 0 at the first frame that has byte codes, of which pc, sp, fp
   and the type are filled in. */
JNIEXPORT int JNICALL ASGST_NextFrame(ASGST_Iterator* iterator, ASGST_Frame* frame);
/* To the newest frame again. */
JNIEXPORT void JNICALL ASGST_RewindIterator(ASGST_Iterator* iterator);
/* What ASGST_NextFrame would return; ASGST_NO_FRAME for a null iterator. */
JNIEXPORT int JNICALL ASGST_State(ASGST_Iterator* iterator);

/* --- methods and classes ---

   An ASGST_Method is a Method*, one for each version of a redefined method; an ASGST_Class is an
   InstanceKlass*, the same for all versions of a class. Arrays and primitive types have none. Any
   value may be given, at any time: one that is of no live class is answered with null and -1.
   Classes get their numbers at asgst_attach and at their ClassPrepare event. JVMTI posts none for
   classes that are loaded while a thread attaches to the JVM or a virtual thread mounts: those have
   no number until somebody asked for one of them and then a thread starts or a class is prepared.

   Different from the proposal: a class is taken for unloaded once JVMTI has freed its
   java.lang.Class, some time after the collector did. Until then what is answered of it may be
   null, or of whatever its memory holds by then. Memory is read with a net below, so it is no
   crash. */

/* Texts are modified UTF-8, copied into the caller's buffers. In: the buffer, or null, and its size
   in bytes. Out: the text, cut to the size, with a NUL at its end (a size below 1: nothing is
   written), and the length of the whole text without the NUL. A text that is unknown, or that there
   is none of, sets the pointer to null and the length to 0: set both before each call. */
typedef struct {
  ASGST_Class klass;
  char* method_name;
  jint method_name_length;
  char* signature; /* "(I)V" */
  jint signature_length;
  char* generic_signature; /* null for most methods */
  jint generic_signature_length;
  jint modifiers;    /* as in the class file; -1: unknown */
  jint idnum;        /* ASGST_GetMethodIdNum */
  jlong class_idnum; /* ASGST_GetClassIdNum */
} ASGST_MethodInfo;

typedef struct {
  char* class_name; /* as the JVM has it: "java/lang/String"; no L and semicolon around it */
  jint class_name_length;
  char* generic_class_name; /* the generic signature; null for most classes */
  jint generic_class_name_length;
  jint modifiers; /* as java.lang.Class has them, with those of member classes; -1: unknown */
  jlong idnum;    /* ASGST_GetClassIdNum */
} ASGST_ClassInfo;

typedef struct {
  jint start_bci;
  jint line_number;
} ASGST_MethodLineNumberEntry;

/* Signal-safe, as all that follow up to ASGST_JMethodIDToMethod. A null `info` is none. */
JNIEXPORT void JNICALL ASGST_GetMethodInfo(ASGST_Method method, ASGST_MethodInfo* info);
/* The method's number in its class: the same for all versions of it. -1: unknown. */
JNIEXPORT jint JNICALL ASGST_GetMethodIdNum(ASGST_Method method);
/* Fills in at most `length` entries, in the class file's order, which need not be that of their
   byte codes. How many; 0 where there is no table, as in native methods; -1: no such method. */
JNIEXPORT int JNICALL ASGST_GetMethodLineNumberTable(ASGST_Method method,
                                                     ASGST_MethodLineNumberEntry* entries,
                                                     int length);
/* The line that a stack trace shows; -1: there is none. */
JNIEXPORT jint JNICALL ASGST_GetMethodLineNumber(ASGST_Method method, jint bci);
JNIEXPORT void JNICALL ASGST_GetClassInfo(ASGST_Class klass, ASGST_ClassInfo* info);
/* The class's number, from 1 on: no other class of this process ever has it, and redefinition does
   not change it. libasgst gives it, as a stock JVM has none. -1: no such class, or no number yet.
 */
JNIEXPORT jlong JNICALL ASGST_GetClassIdNum(ASGST_Class klass);
/* The class that declares the method; null: no such method. */
JNIEXPORT ASGST_Class JNICALL ASGST_GetClass(ASGST_Method method);

/* Null if the method never got a jmethodID, or is none. In the proposal it makes one where there is
   none, which no signal handler may: have JVMTI's GetClassMethods make those of a class. An
   obsolete version of a redefined method has none either. */
JNIEXPORT jmethodID JNICALL ASGST_MethodToJMethodID(ASGST_Method method);
/* The newest version. Null if the id is none, or its method is gone. */
JNIEXPORT ASGST_Method JNICALL ASGST_JMethodIDToMethod(jmethodID id);

/* Not signal-safe: for threads that are attached to the JVM, outside of signal handlers and of
   handlers for unloading. */
/* Null for arrays and primitive types. */
JNIEXPORT ASGST_Class JNICALL ASGST_JClassToClass(jclass klass);
/* A new local reference; null: no such class. It looks through the tags of all classes. */
JNIEXPORT jclass JNICALL ASGST_ClassToJClass(ASGST_Class klass);

/* `methods` are the class's `count` Methods, which are no longer to be used. `redefined`: the class
   lives on, with others. The array lives as long as the call. */
typedef void (*ASGST_ClassUnloadHandler)(ASGST_Class klass, ASGST_Method* methods, int count,
                                         bool redefined, void* arg);

/* Not signal-safe. Several handlers may be registered, the same one several times; they may run on
   several threads at a time. A handler may call what is signal-safe here, and neither JNI nor
   JVMTI; from within one, registering does nothing and deregistering answers false.

   Different from the proposal, as a stock JVM tells nobody before:
   - A handler is called after the class was unloaded, once JVMTI has freed its java.lang.Class.
     Its number can still be asked for, and nothing else is sure: the memory of class and methods
     may be gone or another's, so what a profiler wants to know it must have asked before. Where the
     same address already stands for a new class, its number is that one's.
   - After a redefinition it is called once the new methods are seen in place, about a millisecond
     later: a thread of libasgst's looks for it once a ClassFileLoadHook told that a redefinition
     begins. The old methods can often still be asked for their names. A version that lives for
     less than a look is not told of, nor one that comes more than a minute after its hook.
     All of the class's methods are replaced, those that did not change as well.
   - While there is a handler, JVMTI's ClassFileLoadHook is on, which makes class loading slower.
   - A handler that was registered after the JVM ended, or without asgst_attach, is never called. */
JNIEXPORT void JNICALL ASGST_RegisterClassUnloadHandler(ASGST_ClassUnloadHandler handler,
                                                        void* arg);
/* Takes back one registration of that handler with that argument; once it returns, the handler is
   not running for it. False if there is none. */
JNIEXPORT bool JNICALL ASGST_DeregisterClassUnloadHandler(ASGST_ClassUnloadHandler handler,
                                                          void* arg);

/* --- Safepoint queues ------------------------------------------------------------------------

   A handler of signals puts the frame that its thread stands at into a queue of that thread. Soon
   after, all Java threads are stopped at a safepoint, and the queue's handler is called for each
   element, oldest first, with an iterator over that thread's stack that begins at the element's
   frame. Then the elements are removed.

   Where this differs from the proposal, since a stock JDK calls nobody at a safepoint:
   - A thread of libasgst asks for the safepoint as soon as it sees an element, and the JVM's own
     safepoints are not used. Handlers run on the VM thread, while all Java threads stand still.
   - So the frame may have returned, where the proposal catches a thread on its way out of it. Each
     element tells: asgst_element_state. What its iterator gives was there when the element was
     taken, unless the state is ASGST_ELEMENT_LOST.
   - A frame counts as the one that was there if its method, its place on the stack, the place that
     it returns to and all its recorded callers are what they were. A new call of the same method
     from the same place of the same caller's activation cannot be told from it.
   - Handlers may allocate and lock. A lock that a Java thread may hold while it calls the JVM must
     not be taken: that thread is stopped. They may call neither JVMTI nor JNI; of this API all but
     what walks the current thread.
   - What is queued when a thread ends is handled then, its frames having returned; its queues are
     gone after that.

   Signal-safe: Enqueue, GetEnqueuableElement, GetQueueElement, GetQueueSizeInfo, ResizeQueue, the
   asgst_ functions but asgst_unbound_queue. Not: the others. */

typedef struct ASGST_QueueOpaque ASGST_Queue;

typedef struct {
  void *pc, *fp, *sp; /* of the newest frame that has byte codes */
  void* arg;          /* may be changed */
} ASGST_QueueElement;

typedef struct {
  jint size;     /* elements in the queue, those being handled too */
  jint capacity; /* how many there is room for */
  jint attempts; /* calls of Enqueue since elements were last handled, whatever came of them */
} ASGST_QueueSizeInfo;

typedef void (*ASGST_Handler)(ASGST_Iterator*, void* queue_arg, void* arg);
/* The iterator is over the whole stack as it stands; null if none was asked for. */
typedef void (*ASGST_OnQueueSafepointHandler)(ASGST_Queue*, ASGST_Iterator*, void* arg);

/* A queue for `size` elements, of about 700 bytes each, of the thread of `env` (null: the current
   one). `options`: those of the iterators. Null if there is no such thread, no memory, or a size
   below 1 or above 2^20; or the JVM refuses JVMTI's can_tag_objects. */
JNIEXPORT ASGST_Queue* JNICALL ASGST_RegisterQueue(JNIEnv* env, int size, int options,
                                                   ASGST_Handler fun, void* argument);
/* Elements that wait are dropped. When it returns, no handler of the queue runs any more, unless it
   is called by one. False if this is no queue of that thread (any more). */
JNIEXPORT bool JNICALL ASGST_DeregisterQueue(JNIEnv* env, ASGST_Queue* queue);

/* Puts the frame at which `ucontext` shows the queue's thread (null: at its anchor) at the end. It
   is the current thread, or one that the caller keeps stopped. The kind of the trace, or:
   ASGST_ENQUEUE_NO_QUEUE for null, or one deregistered or of a thread that ended;
   ASGST_ENQUEUE_FULL_QUEUE; ASGST_ENQUEUE_OTHER_ERROR while the queue is just being resized; or why
   there is no frame. */
JNIEXPORT int JNICALL ASGST_Enqueue(ASGST_Queue* queue, void* ucontext, void* argument);
/* What ASGST_Enqueue would put in now for the current thread, and what it would return, were there
   room. All null on an error. */
JNIEXPORT int JNICALL ASGST_GetEnqueuableElement(void* ucontext, ASGST_QueueElement* element);
/* 0 the oldest, 1, ...; -1 the youngest, -2, ...; null out of bounds. It can be changed until its
   thread comes to a safepoint: a thread in native may come to one at any time, then a change may
   come too late. */
JNIEXPORT ASGST_QueueElement* JNICALL ASGST_GetQueueElement(ASGST_Queue* queue, int n);
/* All 0 for what is no live queue. */
JNIEXPORT ASGST_QueueSizeInfo JNICALL ASGST_GetQueueSizeInfo(ASGST_Queue* queue);
/* At the end of the next processing that leaves the queue empty, for which it asks. Other sizes
   than ASGST_RegisterQueue takes are ignored. */
JNIEXPORT void JNICALL ASGST_ResizeQueue(ASGST_Queue* queue, int size);

/* Called before, after the elements of a queue that has some are handled; null: nobody any more. At
   the end they are still in the queue. */
JNIEXPORT void JNICALL ASGST_SetOnQueueProcessingStart(ASGST_Queue* queue, int options,
                                                       bool offerIterator,
                                                       ASGST_OnQueueSafepointHandler before,
                                                       void* arg);
JNIEXPORT void JNICALL ASGST_SetOnQueueProcessingEnd(ASGST_Queue* queue, int options,
                                                     bool offerIterator,
                                                     ASGST_OnQueueSafepointHandler after,
                                                     void* arg);

/* Ours: what has become of an element's frame. */
enum {
  ASGST_ELEMENT_NONE = 0,     /* this iterator is not of an element */
  ASGST_ELEMENT_EXACT = 1,    /* it stands where it stood */
  ASGST_ELEMENT_MOVED = 2,    /* it has gone on; the iterator begins where it stood, but for frames
                                 that were compiled or deoptimised meanwhile: where they stand */
  ASGST_ELEMENT_RETURNED = 3, /* the iterator begins at the nearest older frame that is there */
  ASGST_ELEMENT_LOST = 4      /* none of the eight newest is there; the iterator gives what now lies
                                 beyond them, and nothing tells whether it was there */
};
/* For the iterator of an ASGST_Handler. */
JNIEXPORT int JNICALL asgst_element_state(ASGST_Iterator* iterator);
/* How many physical frames have returned, of the eight that are recorded. */
JNIEXPORT int JNICALL asgst_element_returned(ASGST_Iterator* iterator);
/* The element; null for other iterators. */
JNIEXPORT const ASGST_QueueElement* JNICALL asgst_element(ASGST_Iterator* iterator);

/* Ours: with true, elements wait until it is called with false, so that one stop serves many. Those
   of a thread that ends do not wait. */
JNIEXPORT void JNICALL asgst_hold_queues(bool hold);

/* Ours, for tests: a queue of no thread, which takes the current thread's frames and that nobody
   processes, by one thread at a time; and how to empty it. */
JNIEXPORT ASGST_Queue* JNICALL asgst_unbound_queue(int size);
JNIEXPORT void JNICALL asgst_clear_queue(ASGST_Queue* queue);

/* --- Frame marks: not on a stock JDK, see docs/reference.md. Null and false, always. ---------- */

typedef struct ASGST_FrameMarkOpaque ASGST_FrameMark;
typedef void (*ASGST_FrameMarkHandler)(ASGST_FrameMark*, ASGST_Iterator*, void* arg);

JNIEXPORT ASGST_FrameMark* JNICALL ASGST_RegisterFrameMark(JNIEnv* env, ASGST_FrameMarkHandler fun,
                                                           int options, void* arg);
JNIEXPORT void JNICALL ASGST_MoveFrameMark(ASGST_FrameMark* mark, void* sp);
JNIEXPORT void* JNICALL ASGST_GetFrameMarkStackPointer(ASGST_FrameMark* mark);
JNIEXPORT void JNICALL ASGST_RemoveFrameMark(ASGST_FrameMark* mark);

#ifdef __cplusplus
}
static_assert(sizeof(ASGST_Frame) == 48);
static_assert(sizeof(ASGST_MethodInfo) == 72 && offsetof(ASGST_MethodInfo, method_name) == 8 &&
              offsetof(ASGST_MethodInfo, method_name_length) == 16 &&
              offsetof(ASGST_MethodInfo, signature) == 24 &&
              offsetof(ASGST_MethodInfo, signature_length) == 32 &&
              offsetof(ASGST_MethodInfo, generic_signature) == 40 &&
              offsetof(ASGST_MethodInfo, generic_signature_length) == 48 &&
              offsetof(ASGST_MethodInfo, modifiers) == 52 &&
              offsetof(ASGST_MethodInfo, idnum) == 56 &&
              offsetof(ASGST_MethodInfo, class_idnum) == 64);
static_assert(sizeof(ASGST_ClassInfo) == 40 && offsetof(ASGST_ClassInfo, class_name_length) == 8 &&
              offsetof(ASGST_ClassInfo, generic_class_name) == 16 &&
              offsetof(ASGST_ClassInfo, generic_class_name_length) == 24 &&
              offsetof(ASGST_ClassInfo, modifiers) == 28 && offsetof(ASGST_ClassInfo, idnum) == 32);
static_assert(sizeof(ASGST_MethodLineNumberEntry) == 8 &&
              offsetof(ASGST_MethodLineNumberEntry, line_number) == 4);
static_assert(sizeof(ASGST_QueueElement) == 32 && sizeof(ASGST_QueueSizeInfo) == 12);
#endif

#endif /* WALKHAMMER_ASGST_ITERATOR_H */
