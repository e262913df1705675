/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the later ASGST proposal, after JEP 435's draft, that libasgst.so implements on a
   stock JDK: the iterator, thread states, facts about methods and classes, safepoint queues and
   frame marks. The declarations are our own, written from the facts in the published documents.
   Start java with -agentpath:libasgst.so, or call asgst_attach (asgst.h) first. profile2.h has the
   same under the documents' names alone.

   Signal-safe: yes, unless a function says otherwise, on threads where SIGSEGV and SIGBUS are not
   blocked and reach the JVM's handlers. */
#ifndef WALKHAMMER_ASGST_ITERATOR_H
#define WALKHAMMER_ASGST_ITERATOR_H

#ifdef WALKHAMMER_PROFILE_LATE_H
#error "asgst_iterator.h declares the same names as profile_late.h: include only one"
#endif

#include <jni.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of what the function ASGST_Capabilities returns: safepoint queues; frame marks. */
enum ASGST_Capabilities { ASGST_REGISTER_QUEUE = 1, ASGST_MARK_FRAME = 2 };
/* Returns the optional parts of the API that are offered here: ASGST_REGISTER_QUEUE, and
   ASGST_MARK_FRAME where libjvm can be hooked for frame marks (asgst_hooks.h). Signal-safe: the
   first call, which looks for names in libjvm's file, no; further calls yes. */
JNIEXPORT int JNICALL ASGST_Capabilities(void);

/* Returns the current thread's state, as JVMTI's GetThreadState does, without the bits for
   interrupted and suspended threads; 0 if the thread is not a Java thread of the JVM, or before
   libasgst is attached. Where the JVM does not let libasgst read what a blocked thread waits for,
   the thread counts as runnable. On a carrier: the state of the virtual thread that it runs. */
JNIEXPORT int JNICALL ASGST_ThreadState(void);

/* ASGST_Frame.type. The first three have the values of ASGST_FRAME_JAVA, ASGST_FRAME_JAVA_INLINED
   and ASGST_FRAME_NATIVE (asgst.h); the last is for stubs, C and C++ code. The documents name them
   without the 2: see profile2.h. */
enum ASGST_FrameTypeId {
  ASGST_FRAME2_JAVA = 1,
  ASGST_FRAME2_JAVA_INLINED = 2,
  ASGST_FRAME2_JAVA_NATIVE = 3,
  ASGST_FRAME2_NON_JAVA = 4
};

/* `options` of iterators, as bits: frames of stubs, C and C++ code, too; the walk ends at the first
   frame that has bytecodes */
enum ASGST_Options { ASGST_INCLUDE_NON_JAVA_FRAMES = 1, ASGST_END_ON_FIRST_JAVA_FRAME = 2 };
/* Extension of libasgst, a further option of ASGST_RunWithIterator and
   ASGST_RunWithIteratorFromFrame: the iterator also returns the frames of a mounted virtual thread
   that are in the heap (docs/reference/libasgst.md). Their sp and fp are null, so they cannot be
   marked. */
enum { ASGST_INCLUDE_FROZEN_FRAMES = 1 << 30 };

/* kinds of traces: with Java frames; without */
enum ASGST_TRACE_KIND { ASGST_JAVA_TRACE = 1, ASGST_NON_JAVA_TRACE = 2 };

enum ASGST_Error {
  ASGST_NO_FRAME = 0,   /* the end of the walk */
  ASGST_NO_THREAD = -1, /* the thread is not a Java thread of the JVM, and the options do not
                           have ASGST_INCLUDE_NON_JAVA_FRAMES */
  ASGST_THREAD_IS_EXITING = -2, /* the thread has left its last method, and ends; the documents
                                   name it ASGST_THREAD_EXIT */
  ASGST_UNSAFE_STATE = -3,      /* the thread's state is none in which threads are walked */
  ASGST_NO_TOP_JAVA_FRAME = -4, /* there is no frame to return, or the newest cannot be found */
  ASGST_ENQUEUE_NO_QUEUE = -5,
  ASGST_ENQUEUE_FULL_QUEUE = -6,
  ASGST_ENQUEUE_OTHER_ERROR = -7,
  /* below -16: codes of this implementation */
  ASGST_BROKEN_STACK = -17, /* beyond the frames returned so far, the stack makes no sense, or, for
                               a queue's element, is not known */
  ASGST_NOT_ATTACHED = -18  /* libasgst is not attached: see asgst_attach (asgst.h) */
};

typedef struct ASGST_MethodOpaque* ASGST_Method;
typedef struct ASGST_ClassOpaque* ASGST_Class;
typedef struct ASGST_IteratorOpaque ASGST_Iterator;

typedef struct {
  uint8_t type;
  int comp_level; /* 0 interpreted, 1 to 3 C1, 4 C2; -1 undefined */
  int bci;        /* bytecode index; -1: none, as in native methods */
  ASGST_Method method;
  void *pc, *sp, *fp; /* of the physical frame, also for the inlined frames in it;
                        null: deoptimisation has yet to lay the frame out */
} ASGST_Frame;

typedef void (*ASGST_IteratorHandler)(ASGST_Iterator*, void* argument);

/* Calls fun(iterator, argument), where the iterator returns the current thread's frames, from the
   registers in `ucontext` on (a ucontext_t* that a signal handler received; null: from the thread's
   anchor, where the thread last left Java). The iterator is valid until `fun` returns. Returns the
   trace's kind; or an error below 0, without calling `fun`. */
JNIEXPORT int JNICALL ASGST_RunWithIterator(void* ucontext, int32_t options,
                                            ASGST_IteratorHandler fun, void* argument);
/* Calls fun(iterator, argument), where the iterator returns the current thread's frames, beginning
   at the frame with this stack pointer, frame pointer and pc. Any three values are safe: values
   that make no sense get ASGST_NO_TOP_JAVA_FRAME. The iterator is valid until `fun` returns.
   Returns the trace's kind; or an error below 0, without calling `fun`. */
JNIEXPORT int JNICALL ASGST_RunWithIteratorFromFrame(void* sp, void* fp, void* pc, int options,
                                                     ASGST_IteratorHandler fun, void* argument);

/* Fills in `*frame` with the next frame, newest first, and returns 1. Returns ASGST_NO_FRAME (0) at
   the end and for a null `iterator`, or an error below 0; `*frame` is then empty: bci and
   comp_level are -1, all else is 0 or null. With ASGST_END_ON_FIRST_JAVA_FRAME, the first frame
   that has bytecodes is the end: the function returns ASGST_NO_FRAME, and fills in only that
   frame's type, pc, sp and fp. */
JNIEXPORT int JNICALL ASGST_NextFrame(ASGST_Iterator* iterator, ASGST_Frame* frame);
/* Moves the iterator back to the newest frame. Does nothing if `iterator` is null. */
JNIEXPORT void JNICALL ASGST_RewindIterator(ASGST_Iterator* iterator);
/* Returns what ASGST_NextFrame would return now: 1, ASGST_NO_FRAME or an error; for a null
   `iterator`, ASGST_NO_FRAME. Does not move the iterator. */
JNIEXPORT int JNICALL ASGST_State(ASGST_Iterator* iterator);

/* Extension of libasgst: returns the ASGST_WALK_END_ value (asgst.h) of the iterator's walk;
   ASGST_WALK_END_UNTOLD while ASGST_State is 1, and for a null `iterator`. */
JNIEXPORT int JNICALL asgst_iterator_end(ASGST_Iterator* iterator);
/* Extension of libasgst: returns true if the frame that ASGST_NextFrame returned last, or a newer
   frame, was not derived but searched for on the stack: it may be wrong, and callers before it may
   be missing. For a frame of C or C++ code also: its caller, or one of the newer ones up to the
   last Java frame, was looked for without an unwind table. False for a null `iterator`. */
JNIEXPORT bool JNICALL asgst_frame_is_guess(ASGST_Iterator* iterator);

/* --- methods and classes ---

   An ASGST_Method is HotSpot's Method*: each version of a redefined method has its own. An
   ASGST_Class is HotSpot's InstanceKlass*: all versions of a class have the same. Arrays and
   primitive types have none. The functions take any word as an ASGST_Method, ASGST_Class or
   jmethodID, at any time: for a word that belongs to no live class, the answer is null or -1.

   libasgst numbers the loaded classes at asgst_attach, and each later class at its ClassPrepare
   event. JVMTI posts no ClassPrepare for classes that are loaded while a thread attaches to the JVM
   or a virtual thread mounts. Such classes get their numbers when, after ASGST_GetClassInfo or
   ASGST_GetMethodInfo was called for one of them, a thread starts or a class is prepared.
   ASGST_JClassToClass numbers its class at once.

   With the hooks of ASGST_RegisterClassUnloadHandler, a class counts as unloaded once the handlers
   have been called for it. Different from the proposal where there are no hooks: a class counts as
   unloaded once JVMTI has freed its java.lang.Class, which is some time after the garbage collector
   unloaded the class. In between, answers about the class may be null, or may describe whatever its
   memory holds by then: a class that has come to its place has another number. All reads survive
   bad addresses, so the functions do not crash. */

/* Texts are modified UTF-8, copied into buffers of the caller. Before each call, set each pointer
   to a buffer or to null, and the length beside it to the buffer's size in bytes. After the call,
   the buffer holds the text, truncated to the size, with a NUL at its end (if the size is below 1,
   nothing is written), and the length is that of the whole text without the NUL. If the text is
   unknown, or if there is none, the text is empty and the length 0. The pointers stay as they are.

   Different from the proposal, which sets the pointer to null then: its own example makes a
   std::string of each text, which a null pointer would turn into the end of the JVM. */
typedef struct {
  ASGST_Class klass; /* the class that declares the method */
  char* method_name;
  jint method_name_length;
  char* signature; /* "(I)V" */
  jint signature_length;
  char* generic_signature; /* empty for most methods */
  jint generic_signature_length;
  jint modifiers;    /* as in the class file; -1: unknown */
  jint idnum;        /* as ASGST_GetMethodIdNum returns it */
  jlong class_idnum; /* as ASGST_GetClassIdNum returns it */
} ASGST_MethodInfo;

typedef struct {
  char* class_name; /* as the JVM writes it: "java/lang/String", without L and semicolon */
  jint class_name_length;
  char* generic_class_name; /* the generic signature; empty for most classes */
  jint generic_class_name_length;
  jint modifiers; /* as Class.getModifiers returns them, also for member classes; -1: unknown */
  jlong idnum;    /* as ASGST_GetClassIdNum returns it */
} ASGST_ClassInfo;

typedef struct {
  jint start_bci;
  jint line_number;
} ASGST_MethodLineNumberEntry;

/* Fills in `*info`, whose pointers and lengths must be set. If `method` is not a method of a live
   class, `klass` becomes null, all texts become empty, and all numbers -1. Does nothing if `info`
   is null. Signal-safe: yes, as are all functions from here to ASGST_JMethodIDToMethod. */
JNIEXPORT void JNICALL ASGST_GetMethodInfo(ASGST_Method method, ASGST_MethodInfo* info);
/* Returns the method's number in its class, which all versions of the method share; -1: unknown, or
   `method` is not a method of a live class. */
JNIEXPORT jint JNICALL ASGST_GetMethodIdNum(ASGST_Method method);
/* Copies at most `length` entries of the method's line number table to `entries`, in the class
   file's order, which need not be the order of their bytecodes. Returns how many entries were
   copied: 0 if there is no table, as for native methods; -1 if `method` is not a method of a live
   class. */
JNIEXPORT int JNICALL ASGST_GetMethodLineNumberTable(ASGST_Method method,
                                                     ASGST_MethodLineNumberEntry* entries,
                                                     int length);
/* Returns the line number that a stack trace shows for this bytecode index; -1 if there is none,
   or if `method` is not a method of a live class. */
JNIEXPORT jint JNICALL ASGST_GetMethodLineNumber(ASGST_Method method, jint bci);
/* Fills in `*info`, whose pointers and lengths must be set. If `klass` is not a live class, all
   texts become empty, and all numbers -1. Does nothing if `info` is null. */
JNIEXPORT void JNICALL ASGST_GetClassInfo(ASGST_Class klass, ASGST_ClassInfo* info);
/* Returns the class's number, which is at least 1: no other class of this process ever gets the
   same number, and redefinition does not change the number. libasgst assigns the numbers, as a
   stock JVM has none. -1: `klass` is not a live class, or has no number yet. */
JNIEXPORT jlong JNICALL ASGST_GetClassIdNum(ASGST_Class klass);
/* Returns the class that declares the method; null if `method` is not a method of a live class. */
JNIEXPORT ASGST_Class JNICALL ASGST_GetClass(ASGST_Method method);

/* Returns the method's jmethodID; null if the method has none, as obsolete versions of redefined
   methods do, or if it is not a method. Different from the proposal: the function creates no
   jmethodID, which no signal handler may do. JVMTI's GetClassMethods creates the jmethodIDs of all
   methods of a class. */
JNIEXPORT jmethodID JNICALL ASGST_MethodToJMethodID(ASGST_Method method);
/* Returns the newest version of the method; null if `id` is not a jmethodID, or if its method is
   gone. From JDK 26 on, an id is a number, and leads to the methods of those classes only that have
   a number themselves: see ASGST_GetClassIdNum. */
JNIEXPORT ASGST_Method JNICALL ASGST_JMethodIDToMethod(jmethodID id);

/* Returns the class that `klass` refers to; null for arrays and primitive types. Call it on a
   thread that is attached to the JVM, outside of class unload handlers. Returns null in handlers of
   queues. Signal-safe: no. */
JNIEXPORT ASGST_Class JNICALL ASGST_JClassToClass(jclass klass);
/* Returns a new JNI local reference to the class; null if `klass` is not a live class, or has no
   number yet. The search takes time in proportion to the number of classes. Call it on a thread
   that is attached to the JVM, outside of class unload handlers. Returns null in handlers of
   queues. Signal-safe: no. */
JNIEXPORT jclass JNICALL ASGST_ClassToJClass(ASGST_Class klass);

/* `methods`: the `count` methods that the class had, which must not be used any more; the array is
   valid, and may be changed, until the handler returns. `redefined`: true if the class is still
   loaded, with other methods; false if the class was unloaded. */
typedef void (*ASGST_ClassUnloadHandler)(ASGST_Class klass, ASGST_Method* methods, int count,
                                         bool redefined, void* arg);

/* Registers `handler`, which is called with `arg` for each class that is unloaded or redefined.
   Several handlers may be registered, and one handler several times; handlers may run on several
   threads at the same time. A handler may call the signal-safe functions of this API, but neither
   JNI nor JVMTI. It may take locks, but no lock that a Java thread may hold while it calls the JVM:
   that thread may be stopped. Inside a handler, also one of a queue, registering does nothing and
   deregistering returns false. Signal-safe: no.

   The first registration hooks two functions of libjvm, if it can: see asgst_hooks.h. Then a
   handler is called before the class is unloaded or redefined, once for each class and version, and
   may ask for all facts. It runs on the VM thread or on a thread of the collector; the JVM waits.

   Different from the proposal where there are no hooks, as a stock JVM reports nothing beforehand:
   - A handler is called after the class was unloaded, once JVMTI has freed its java.lang.Class. The
     class's number is still available. Nothing else can be asked in the handler, as the memory of
     the class and of its methods may be freed or in other use. If a new class already has the same
     address, the number is the new class's.
   - After a redefinition, a handler is called about a millisecond after the new methods are in
     place: once a ClassFileLoadHook has announced the redefinition, a thread of libasgst checks the
     class's methods repeatedly. The old methods' names are often still available. A version that is
     replaced between two checks is not reported, nor is a version that is in place more than a
     minute after its hook. A redefinition replaces all methods of the class, also those that did
     not change.
   - While a handler is registered, JVMTI's ClassFileLoadHook is enabled, which slows down class
     loading.
   - A handler that was registered before libasgst was attached, as in a client's Agent_OnLoad, is
     called from then on. One that was registered after the end of the JVM is never called. */
JNIEXPORT void JNICALL ASGST_RegisterClassUnloadHandler(ASGST_ClassUnloadHandler handler,
                                                        void* arg);
/* Removes one registration of `handler` with `arg`, and waits until that registration's calls are
   over. Returns false if there is no such registration, or inside a handler, also one of a queue.
   Signal-safe: no. */
JNIEXPORT bool JNICALL ASGST_DeregisterClassUnloadHandler(ASGST_ClassUnloadHandler handler,
                                                          void* arg);

/* --- Safepoint queues ------------------------------------------------------------------------

   A signal handler puts its thread's current frame into a queue of that thread. Soon after, the
   queue's handler is called for each element, oldest first, with an iterator over that thread's
   stack that begins at the element's frame. Then the elements are removed.

   The first ASGST_RegisterQueue hooks two functions of libjvm, if it can: see asgst_hooks.h. Then
   ASGST_Enqueue arms its own thread's poll, and that thread calls the handlers at its next poll,
   as in the proposal: handlers see that thread's thread_local variables, and no other thread is
   stopped. GetEnv answers there, but the JNIEnv must not be used. Where that is not possible, a
   thread of libasgst requests a safepoint, and handlers run on the VM thread while all Java
   threads are stopped: where there are no hooks; for elements that another thread has enqueued,
   that were held, or whose thread has little stack left; and once elements have waited for 20 ms
   while their thread is in native or blocked, or for 500 ms.

   Different from the proposal:
   - The frame may have returned by then. With hooks, it has often just done so, as a compiled
     method polls when its frame is gone already; an exception passes no poll. Without hooks, more
     frames may have returned. asgst_element_state says what has become of an element's frame.
     Whatever the state is, the element's iterator first returns the frame as it was when enqueued,
     then older frames, which were on the stack when the element was enqueued. The eight newest
     physical frames, so far as they have returned, come from what ASGST_Enqueue recorded, with the
     methods that were inlined into them; their sp and fp are null, as are those of a frame that was
     compiled or deoptimised since. If none of the eight is left, their caller is not known, as
     no frame that is there now is certain to be it: the iterator ends behind the eight with
     ASGST_BROKEN_STACK.
   - If the JVM has discarded the compiled code of a frame that has returned, of the methods inlined
     into the frame only the innermost is returned, and the frame's own method, whose bci is -1.
   - A frame counts as the recorded frame if its method, its place on the stack, its call site in
     the caller and all its recorded callers are the same. A new call of the same method from the
     same call site of the same activation of the caller cannot be distinguished from the recorded
     call. If all eight and their caller were called anew in this way, older frames may be those of
     the new calls.
   - Handlers may allocate memory and take locks, but no lock that a Java thread may hold while it
     calls the JVM or a function of this API that is not signal-safe: that thread may be stopped, or
     wait for the handler. Handlers may call neither JVMTI nor JNI; they may call all functions of
     this API, but on the VM thread none that walks the current thread. Those that need JNI or JVMTI
     do nothing in handlers: ASGST_JClassToClass, ASGST_ClassToJClass, and those that register and
     deregister class unload handlers.
   - When a thread ends, its waiting elements are handled, with their frames returned; then its
     queues end.
   - Elements are also handled before each pause of a collection, held or not, so that no handler
     gets a method of a class that was unloaded. Those of the last 20 ms wait for their own thread
     if that ran, handles its queues itself, and still stands at the same bytecode.
   - Handlers of different threads' queues may run at the same time.

   Signal-safe: ASGST_Enqueue, ASGST_GetEnqueuableElement, ASGST_GetQueueElement,
   ASGST_GetQueueSizeInfo, ASGST_ResizeQueue and all asgst_ functions but asgst_unbound_queue yes;
   the other functions no. */

typedef struct ASGST_QueueOpaque ASGST_Queue;

typedef struct {
  void *pc, *fp, *sp; /* of the newest frame that has bytecodes; null: deoptimisation has yet to
                         lay that frame out */
  void* arg;          /* the `argument` of ASGST_Enqueue; may be changed */
} ASGST_QueueElement;

typedef struct {
  jint size;     /* elements in the queue, also those being handled */
  jint capacity; /* elements that the queue has room for */
  jint attempts; /* calls of ASGST_Enqueue since queues were last handled, failed ones, too */
} ASGST_QueueSizeInfo;

/* `queue_arg`: the `argument` of ASGST_RegisterQueue; `arg`: the element's. */
typedef void (*ASGST_Handler)(ASGST_Iterator*, void* queue_arg, void* arg);
/* The iterator returns all frames that are on the thread's stack now; it is null unless
   `offerIterator` was true. */
typedef void (*ASGST_OnQueueSafepointHandler)(ASGST_Queue*, ASGST_Iterator*, void* arg);

/* Returns a new queue of the thread whose JNIEnv is `env` (null: the current thread), with room for
   `size` elements of about 800 bytes each. `fun` is called with `argument` for each element;
   `options` are those of its iterator. Returns null if there is no such thread, no `fun`, or no
   memory, if `size` is below 1 or above 2^20, or if the JVM refuses JVMTI's can_tag_objects.
   Signal-safe: no. */
JNIEXPORT ASGST_Queue* JNICALL ASGST_RegisterQueue(JNIEnv* env, int size, int options,
                                                   ASGST_Handler fun, void* argument);
/* Ends the queue and drops its waiting elements. `env`: as for ASGST_RegisterQueue. When the
   function returns, no handler of the queue runs any more, unless a handler has called the
   function. Returns false if `queue` is not a live queue of that thread. Signal-safe: no. */
JNIEXPORT bool JNICALL ASGST_DeregisterQueue(JNIEnv* env, ASGST_Queue* queue);

/* Appends an element to the queue: the newest frame that has bytecodes of the queue's thread, from
   the registers in `ucontext` on (null: from the thread's anchor), and `argument`. The queue's
   thread is the current thread, or a thread that the caller keeps stopped. Returns
   ASGST_JAVA_TRACE, or: ASGST_ENQUEUE_NO_QUEUE if `queue` is null, was deregistered, or belongs to
   a thread that has ended; ASGST_ENQUEUE_FULL_QUEUE, without a walk; ASGST_ENQUEUE_OTHER_ERROR if
   the queue is being resized at that moment; or the error that says why there is no frame.
   Signal-safe: yes. */
JNIEXPORT int JNICALL ASGST_Enqueue(ASGST_Queue* queue, void* ucontext, void* argument);
/* Fills in `*element` with what ASGST_Enqueue would append now for the current thread, except for
   `arg`, which becomes null. Returns what ASGST_Enqueue would return for a queue with room. On an
   error, all of `*element` is null. Signal-safe: yes. */
JNIEXPORT int JNICALL ASGST_GetEnqueuableElement(void* ucontext, ASGST_QueueElement* element);
/* Returns element `n`: from the oldest on 0, 1, ...; from the youngest on -1, -2, ...; null if
   there is no such element, or if it is not complete yet. The signal handler that has enqueued an
   element may ask for that element, and change its `arg`, until the handler returns: that long the
   element stays in the queue. In a later handler, another thread may take the element out at any
   time, if the queue's thread is blocked or in native; a change of `arg` may then come too late. A
   handler that blocks no signal, or that has given ASGST_Enqueue no context, has half a second; any
   other has five seconds. Signal-safe: yes. */
JNIEXPORT ASGST_QueueElement* JNICALL ASGST_GetQueueElement(ASGST_Queue* queue, int n);
/* Returns the sizes of the queue; all are 0 if `queue` is not a live queue. Signal-safe: yes. */
JNIEXPORT ASGST_QueueSizeInfo JNICALL ASGST_GetQueueSizeInfo(ASGST_Queue* queue);
/* The same as the size in there, under the name of an older prototype. Signal-safe: yes. */
JNIEXPORT int JNICALL ASGST_QueueSize(ASGST_Queue* queue);
/* Requests a processing of the queue, and room for `size` elements. The room changes at the end of
   the next processing that leaves no more than `size` elements in the queue, none of which is being
   put in, and after which no handler holds an element from before the previous change. Elements
   that wait stay in the queue, in places of their own: what a handler writes to an element that it
   has asked for earlier is lost. Does nothing if `size` is below 1 or above 2^20, or if there is no
   memory for the room at that processing. Signal-safe: yes. */
JNIEXPORT void JNICALL ASGST_ResizeQueue(ASGST_Queue* queue, int size);

/* Sets the handler that is called with `arg` before the queue's elements are handled, if there are
   any; null: no handler. `options`: those of the iterator that the handler gets if `offerIterator`
   is true. A handler may call the function for queues of its own element's thread alone.
   Signal-safe: no. */
JNIEXPORT void JNICALL ASGST_SetOnQueueProcessingStart(ASGST_Queue* queue, int options,
                                                       bool offerIterator,
                                                       ASGST_OnQueueSafepointHandler before,
                                                       void* arg);
/* Sets the handler that is called with `arg` after the queue's elements were handled, if there were
   any, and before they are removed; null: no handler. `options`: those of the iterator that the
   handler gets if `offerIterator` is true. A handler may call the function for queues of its own
   element's thread alone. Signal-safe: no. */
JNIEXPORT void JNICALL ASGST_SetOnQueueProcessingEnd(ASGST_Queue* queue, int options,
                                                     bool offerIterator,
                                                     ASGST_OnQueueSafepointHandler after,
                                                     void* arg);

/* Extension of libasgst: what has become of an element's frame. */
enum {
  ASGST_ELEMENT_NONE = 0,     /* the iterator is not that of an element */
  ASGST_ELEMENT_EXACT = 1,    /* the frame is still there, at the same bytecode */
  ASGST_ELEMENT_MOVED = 2,    /* the frame is still there, and has gone on */
  ASGST_ELEMENT_RETURNED = 3, /* the frame has returned; an older recorded frame is still there */
  ASGST_ELEMENT_LOST = 4      /* none of the recorded frames, the eight newest at most, is still
                                 there; unless they were the whole stack, the iterator ends behind
                                 them with ASGST_BROKEN_STACK */
};
/* Extension of libasgst: returns the ASGST_ELEMENT_ value for the iterator that an ASGST_Handler
   got; ASGST_ELEMENT_NONE for other iterators. Signal-safe: yes. */
JNIEXPORT int JNICALL asgst_element_state(ASGST_Iterator* iterator);
/* Extension of libasgst: returns how many of the element's recorded physical frames, the eight
   newest at most, have returned; 0 for iterators that are not of an element. Signal-safe: yes. */
JNIEXPORT int JNICALL asgst_element_returned(ASGST_Iterator* iterator);
/* Extension of libasgst: returns the iterator's element; null for iterators that are not of an
   element. Signal-safe: yes. */
JNIEXPORT const ASGST_QueueElement* JNICALL asgst_element(ASGST_Iterator* iterator);

/* Extension of libasgst: with true, the elements of all queues wait until a call with false, so
   that one safepoint serves many elements. Elements of a thread that ends do not wait.
   Signal-safe: yes. */
JNIEXPORT void JNICALL asgst_hold_queues(bool hold);

/* Extension of libasgst, for tests: returns a queue of no thread, with room for `size` elements.
   ASGST_Enqueue puts frames of the current thread into this queue; its elements are never
   processed. One thread at a time may use the queue. Returns null if there is no memory, or if
   `size` is below 1 or above 2^20. Signal-safe: no. */
JNIEXPORT ASGST_Queue* JNICALL asgst_unbound_queue(int size);
/* Extension of libasgst, for tests: removes all elements from a queue of asgst_unbound_queue; does
   nothing to other queues. Signal-safe: yes. */
JNIEXPORT void JNICALL asgst_clear_queue(ASGST_Queue* queue);

/* --- Frame marks -----------------------------------------------------------------------------

   A mark marks a frame on its thread's stack by the stack pointer that an iterator returned for the
   frame. When the frame is left, by a return or an exception, the thread itself calls the mark's
   handler, before the frame's caller goes on. Frames that are called until then cost nothing more.

   The first ASGST_RegisterFrameMark hooks two functions of libjvm besides those of the queues: see
   asgst_hooks.h. Where libjvm cannot be hooked, as ASGST_Capabilities tells, there are no marks.
   - The handler's iterator begins at the frame that goes on, mostly the marked frame's caller; it
     returns no frame if the marked frame was the thread's oldest. asgst_mark_state says more.
   - If the handler does not move the mark, the mark then marks no frame. Handlers may do what those
     of queues may at a poll, but register no mark. Those of one moment are called in any order.
   - If the marked frame is deoptimised, the interpreted frame that takes its place is marked.
   - In a signal handler that has interrupted Java code, a mark takes the stack pointer as it is: if
     the frame is interpreted or deoptimised, the handler may be called when a frame is left that
     the marked one has called. A frame that returns already is left with the next older one.
   - A virtual thread that leaves its carrier leaves its marked frames. Then, as on a thread with
     less than 80 KiB of stack left, the handler is called when an older frame is left.

   Signal-safe: ASGST_MoveFrameMark for marks of the current thread, ASGST_GetFrameMarkStackPointer
   and asgst_mark_state yes; the other functions no. */

typedef struct ASGST_FrameMarkOpaque ASGST_FrameMark;
typedef void (*ASGST_FrameMarkHandler)(ASGST_FrameMark*, ASGST_Iterator*, void* arg);

/* Returns a new mark of the thread whose JNIEnv is `env` (null: the current thread), which marks no
   frame and ends with its thread. `fun` is called with `arg`; `options` are those of its iterator.
   Returns null if there is no such thread, `fun`, memory or way to mark frames, and in handlers. */
JNIEXPORT ASGST_FrameMark* JNICALL ASGST_RegisterFrameMark(JNIEnv* env, ASGST_FrameMarkHandler fun,
                                                           int options, void* arg);
/* Marks the frame with this stack pointer; null: none. No effect once mark or thread have ended.
   A caller that keeps a thread stopped may move marks of its own thread only. */
JNIEXPORT void JNICALL ASGST_MoveFrameMark(ASGST_FrameMark* mark, void* sp);
/* Returns the marked frame's stack pointer, also in the handler that is called for it; or null. */
JNIEXPORT void* JNICALL ASGST_GetFrameMarkStackPointer(ASGST_FrameMark* mark);
/* Ends the mark, whose handler is not called again once the function has returned; but handlers
   must remove marks of their own thread only, as those of others may be about to be called. */
JNIEXPORT void JNICALL ASGST_RemoveFrameMark(ASGST_FrameMark* mark);

/* Extension of libasgst: where a mark's handler is called. */
enum {
  ASGST_MARK_NONE = 0,   /* the iterator is not that of a mark */
  ASGST_MARK_LEFT = 1,   /* the marked frame was left just now: its caller goes on next */
  ASGST_MARK_PASSED = 2, /* its caller does not stand at the call: it was left, too, or has gone on,
                            or an interpreted caller gets an exception */
  ASGST_MARK_UNTOLD = 3  /* not known: moved in a signal handler, or by another thread */
};
/* Extension of libasgst: the value for a handler's iterator; ASGST_MARK_NONE for any other. */
JNIEXPORT int JNICALL asgst_mark_state(ASGST_Iterator* iterator);

#ifdef __cplusplus
}
static_assert(sizeof(ASGST_Frame) == 48 && offsetof(ASGST_Frame, type) == 0 &&
              offsetof(ASGST_Frame, comp_level) == 4 && offsetof(ASGST_Frame, bci) == 8 &&
              offsetof(ASGST_Frame, method) == 16 && offsetof(ASGST_Frame, pc) == 24 &&
              offsetof(ASGST_Frame, sp) == 32 && offsetof(ASGST_Frame, fp) == 40);
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
static_assert(sizeof(ASGST_QueueElement) == 32 && offsetof(ASGST_QueueElement, pc) == 0 &&
              offsetof(ASGST_QueueElement, fp) == 8 && offsetof(ASGST_QueueElement, sp) == 16 &&
              offsetof(ASGST_QueueElement, arg) == 24);
static_assert(sizeof(ASGST_QueueSizeInfo) == 12 && offsetof(ASGST_QueueSizeInfo, capacity) == 4 &&
              offsetof(ASGST_QueueSizeInfo, attempts) == 8);
#endif

#endif /* WALKHAMMER_ASGST_ITERATOR_H */
