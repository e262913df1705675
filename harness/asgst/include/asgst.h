/* SPDX-License-Identifier: Apache-2.0 */
/* AsyncGetStackTrace as JEP 435 describes it; the first draft calls it AsyncGetCallTrace2.
   libasgst.so implements both names on a stock JDK. The declarations are our own, written from the
   facts in the published documents.

   Signal-safe: AsyncGetStackTrace and AsyncGetCallTrace2 are, once libasgst is attached, on threads
   where SIGSEGV and SIGBUS are not blocked and reach the JVM's handlers: walks read memory through
   the JVM's SafeFetch. */
#ifndef WALKHAMMER_ASGST_H
#define WALKHAMMER_ASGST_H

#if defined(WALKHAMMER_PROFILE_H) || defined(WALKHAMMER_PROFILE2_H) || \
    defined(WALKHAMMER_PROFILE_LATE_H)
#error "asgst.h declares the same names as the profile headers: include only one"
#endif

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of libasgst.so.0 and of both headers. A new version means that code compiled with older
   headers must be recompiled. */
#define ASGST_API_VERSION 0

/* ASGST_CallFrame.type */
enum {
  ASGST_FRAME_JAVA = 1,         /* compiled or interpreted */
  ASGST_FRAME_JAVA_INLINED = 2, /* compiled into the next, older frame */
  ASGST_FRAME_NATIVE = 3,       /* of a native method */
  ASGST_FRAME_STUB = 4,         /* generated code that belongs to no method */
  ASGST_FRAME_CPP = 5           /* C or C++ code */
};

/* ASGST_CallTrace.num_frames, if there is no frame */
enum {
  ASGST_NO_JAVA_FRAME = 0,
  ASGST_NO_CLASS_LOAD = -1,         /* libasgst is not attached: see asgst_attach */
  ASGST_GC_ACTIVE = -2,             /* never: a walk leaves out frames that a collector may move */
  ASGST_UNKNOWN_NOT_JAVA = -3,      /* never */
  ASGST_NOT_WALKABLE_NOT_JAVA = -4, /* the thread's anchor holds no valid sp or pc */
  ASGST_UNKNOWN_JAVA = -5,          /* the newest Java frame cannot be found, or makes no sense */
  ASGST_UNKNOWN_STATE = -7,         /* threads are not walked in this thread's state */
  ASGST_THREAD_EXIT = -8,           /* the current thread has left its last method, and ends */
  ASGST_DEOPT = -9,                 /* deoptimisation is replacing a compiled frame by interpreted
                                       ones, and these cannot be read yet */
  ASGST_THREAD_NOT_JAVA = -10       /* the thread is not a Java thread of the JVM */
};

/* Bits of `options`. The first adds frames of C and C++ code and of stubs. The second also walks
   threads that are not Java threads, which have only frames of C and C++ code. JEP 435 has only the
   first; the second is that of its prototypes. */
enum { ASGST_INCLUDE_C_FRAMES = 1, ASGST_INCLUDE_NON_JAVA_THREADS = 2 };
/* Extension of libasgst, a further bit of `options`: the walk uses no results of earlier walks, and
   takes several times as long. Its answer must be the same. */
enum { ASGST_WITHOUT_CACHES = 1 << 30 };
/* Extension of libasgst, a further bit of `options`: the walk leaves out frames of a virtual thread
   that are in the heap (is_frozen), and goes on with what entered that thread. */
enum { ASGST_WITHOUT_FROZEN_FRAMES = 1 << 29 };

typedef struct {
  uint8_t type;
  int8_t comp_level;   /* 0 interpreted, or becoming so by deoptimisation; 1 to 3 C1, 4 C2 */
  uint16_t bci;        /* bytecode index; 65535: none, as in native methods */
  uint8_t is_frozen;   /* extension of libasgst: 1: the frame is one of a mounted virtual thread,
                          in the heap until its callee returns; else 0 */
  jmethodID method_id; /* null if the method has no jmethodID */
} ASGST_JavaFrame;

typedef struct {
  uint8_t type;
  void* pc;
} ASGST_NonJavaFrame;

typedef union {
  uint8_t type;
  ASGST_JavaFrame java_frame; /* types 1 to 3 */
  ASGST_NonJavaFrame non_java_frame;
} ASGST_CallFrame;

typedef struct {
  jint num_frames;         /* or a code of 0 or below: why there are no frames */
  ASGST_CallFrame* frames; /* array of the caller, filled newest frame first */
  void* frame_info;        /* becomes null */
} ASGST_CallTrace;

/* Finds the JVM of this process and reads what walks must know of it. `vm`: the JavaVM that the
   caller's agent received. Call it once, at the VMInit event or later, on a thread that is attached
   to the JVM. Clients that never call it, such as those of the documents, have three other ways:
   - java -agentpath:.../libasgst.so -agentpath:CLIENT, in this order: libasgst attaches at VMInit,
     before the client receives that event. Clients that were not linked with libasgst find its
     functions, too.
   - jcmd PID JVMTI.agent_load .../libasgst.so: libasgst attaches to the running JVM at once.
   - ASGST_RegisterQueue, ASGST_RegisterClassUnloadHandler and ASGST_JClassToClass attach at their
     first call on a thread of the JVM, from VMInit on (the latter two, on a stripped libjvm of JDK
     22 or later: after VMInit).
   If nothing has attached, the first walk says so in one line on stderr. Returns 0, or -1 on
   failure; asgst_error then returns the reason. Signal-safe: no. */
JNIEXPORT jint JNICALL asgst_attach(JavaVM* vm);
/* Returns the sentence that says why the last asgst_attach failed; "" if it succeeded, or was never
   called. The string belongs to libasgst, and changes with the next call of asgst_attach.
   Signal-safe: yes. */
JNIEXPORT const char* JNICALL asgst_error(void);
/* Waits at most `milliseconds` for the unwind tables of all libraries that are loaded now. A thread
   of libasgst reads these tables from the libraries' .eh_frame after asgst_attach, and again when a
   walk has met code of a library that was loaded since. Until the tables are complete, and in code
   without .eh_frame, walks follow frame pointers, and asgst_guessed_c_frame says so. Returns 0, or
   -1 if the time was too short. Signal-safe: no. */
JNIEXPORT jint JNICALL asgst_wait_for_c_frames(jint milliseconds);

/* Walks the current thread from the registers in `ucontext`, a ucontext_t* that a signal handler
   received; null: from the thread's anchor, where the thread last left Java. Writes at most `depth`
   frames, newest first, to `trace->frames`, and their number, or a code of 0 or below, to
   `trace->num_frames`. `options`: the bits above; other bits have no effect. Without `ucontext`, a
   thread that is not a Java thread has no frames. Signal-safe: yes. */
JNIEXPORT void JNICALL AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* ucontext,
                                          uint32_t options);
/* Calls AsyncGetStackTrace: this is the name in JEP 435's first draft. Signal-safe: yes. */
JNIEXPORT void JNICALL AsyncGetCallTrace2(ASGST_CallTrace* trace, jint depth, void* ucontext,
                                          uint32_t options);

/* Extension of libasgst: walks the thread whose JNIEnv is `env`, while the caller keeps that thread
   parked or suspended. `ucontext`: if the thread is parked in a signal handler, the ucontext_t*
   that the handler received; null: the walk begins at the thread's anchor, where the thread last
   left Java (for a thread that is blocked, suspended, or in native). Writes at most `depth` frames,
   newest first, to `trace->frames`, and their number, or a code of 0 or below, to
   `trace->num_frames`: ASGST_THREAD_NOT_JAVA if no Java thread of the JVM has that JNIEnv.
   `options`: 0 or ASGST_INCLUDE_C_FRAMES. If the thread runs on after all, the frames may be wrong
   or missing, but the walk does not crash. Signal-safe: yes, on any thread, also on a thread that
   the JVM does not know. */
JNIEXPORT void JNICALL asgst_get_stack_trace_of(JNIEnv* env, ASGST_CallTrace* trace, jint depth,
                                                void* ucontext, uint32_t options);
/* Extension of libasgst: walks the thread whose gettid() is `os_thread_id`, as
   asgst_get_stack_trace_of does; -1: walks the current thread, as AsyncGetStackTrace does. Sets
   `*env` to the walked thread's JNIEnv, or to null if there is no such thread; `env` itself may be
   null. `trace->num_frames` becomes ASGST_THREAD_NOT_JAVA if no Java thread of the JVM has that id.
   The search for the id takes time in proportion to the number of Java threads. Signal-safe: yes,
   on any thread, also on a thread that the JVM does not know. */
JNIEXPORT void JNICALL asgst_get_stack_trace_of_os_thread(jlong os_thread_id, JNIEnv** env,
                                                          ASGST_CallTrace* trace, jint depth,
                                                          void* ucontext, uint32_t options);

/* Extension of libasgst: why a walk returned no more frames than it did. Later versions may add
   values. */
enum {
  ASGST_WALK_END_UNTOLD = 0,          /* this thread has not walked, or there are more frames */
  ASGST_WALK_END_WHOLE = 1,           /* at the oldest Java frame */
  ASGST_WALK_END_GUESSED = 2,         /* as WHOLE, but see asgst_guessed_from */
  ASGST_WALK_END_DEPTH = 3,           /* `depth` frames were returned */
  ASGST_WALK_END_OPTION = 4,          /* ASGST_END_ON_FIRST_JAVA_FRAME */
  ASGST_WALK_END_NO_JAVA = 5,         /* the thread has no Java frame, or is not a Java thread */
  ASGST_WALK_END_STATE = 6,           /* as ASGST_UNKNOWN_STATE */
  ASGST_WALK_END_DEOPT = 7,           /* as ASGST_DEOPT */
  ASGST_WALK_END_ANCHOR = 8,          /* an anchor holds no valid sp or pc */
  ASGST_WALK_END_NO_TOP = 9,          /* the newest Java frame cannot be found */
  ASGST_WALK_END_UPCALL = 10,         /* C called Java through FFM, in code of an unknown frame */
  ASGST_WALK_END_RETURN_BARRIER = 11, /* a virtual thread's older frames are in the heap, and the
                                         frames of its carrier cannot be found */
  ASGST_WALK_END_UNKNOWN_STUB = 12,   /* a stub of the JVM whose frame is unknown */
  ASGST_WALK_END_UNREADABLE = 13,     /* a word is outside of the stack, or cannot be read */
  ASGST_WALK_END_NO_CALLER = 14,      /* a return address does not lead into generated code */
  ASGST_WALK_END_NO_METHOD = 15       /* a frame's method or debug information makes no sense */
};
/* Extension of libasgst: returns the ASGST_WALK_END_ value of the newest walk that the calling
   thread made through a function of this header. A signal handler that interrupts the caller and
   walks changes the answer. Signal-safe: yes. */
JNIEXPORT jint JNICALL asgst_walk_end(void);
/* Extension of libasgst: returns the index, in the `frames` of the walk of asgst_walk_end, of the
   newest frame that was not derived but searched for on the stack: this frame may be wrong, and all
   older frames may be wrong, or lack callers in between. -1: there is none. Frames of C and C++
   code do not count. Signal-safe: yes. */
JNIEXPORT jint JNICALL asgst_guessed_from(void);
/* Extension of libasgst: returns the index, in the same `frames`, of the newest frame of C or C++
   code that was found, or whose caller was looked for, without an unwind table: as in a library
   that was loaded since the tables were made. From this frame on to the next Java frame, frames may
   be wrong or missing; Java frames are not affected. -1: there is none. Signal-safe: yes. */
JNIEXPORT jint JNICALL asgst_guessed_c_frame(void);
/* Extension of libasgst: how the calling thread's walks, and its other calls of libasgst, read
   memory that may not be mapped. */
enum {
  ASGST_READS_NOT_ATTACHED = 0,
  ASGST_READS_SAFEFETCH = 1, /* by the JVM's own function: a nanosecond or two for each word */
  ASGST_READS_KERNEL = 2     /* by process_vm_readv, a system call for each word: SafeFetch was not
                                found, or does not work on this thread. The latter holds on JDK 15
                                and before, on threads that are not Java threads. */
};
/* Extension of libasgst: returns the ASGST_READS_ value of the calling thread. Signal-safe: yes. */
JNIEXPORT jint JNICALL asgst_reads(void);

#ifdef __cplusplus
}
static_assert(sizeof(ASGST_CallFrame) == 16 && sizeof(ASGST_JavaFrame) == 16 &&
              offsetof(ASGST_JavaFrame, comp_level) == 1 && offsetof(ASGST_JavaFrame, bci) == 2 &&
              offsetof(ASGST_JavaFrame, method_id) == 8 && offsetof(ASGST_NonJavaFrame, pc) == 8);
static_assert(sizeof(ASGST_CallTrace) == 24 && offsetof(ASGST_CallTrace, frames) == 8 &&
              offsetof(ASGST_CallTrace, frame_info) == 16);
#endif

#endif /* WALKHAMMER_ASGST_H */
