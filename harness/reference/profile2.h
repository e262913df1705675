/* The ASGST API that came after JEP 435's draft, as far as libasgst.so implements it on a stock
   JDK: the iterator, the states, and the way between methods and jmethodIDs. Our own declarations,
   by the documents' facts. Begin with asgst_attach (profile.h).

   Signal-safe: all of it, where SIGSEGV and SIGBUS are not blocked and lead to the JVM. */
#ifndef WALKHAMMER_PROFILE2_H
#define WALKHAMMER_PROFILE2_H

#include <jni.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A bit map of what else there is: ASGST_REGISTER_QUEUE 1, ASGST_MARK_FRAME 2. Neither yet. */
JNIEXPORT int JNICALL ASGST_Capabilities(void);

/* The current thread's: a subset of JVMTI's thread state (alive, runnable, blocked, in native);
   0 for a thread that is none of the JVM's. */
JNIEXPORT int JNICALL ASGST_ThreadState(void);

/* ASGST_Frame.type; JAVA, JAVA_INLINED and NATIVE have the values of profile.h */
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
/* The same from a frame that the caller knows. Any values may be given. */
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

/* Null if the method never got a jmethodID, or is none. */
JNIEXPORT jmethodID JNICALL ASGST_MethodToJMethodID(ASGST_Method method);
/* Null if the id is none, or its method is gone. */
JNIEXPORT ASGST_Method JNICALL ASGST_JMethodIDToMethod(jmethodID id);

#ifdef __cplusplus
}
static_assert(sizeof(ASGST_Frame) == 48);
#endif

#endif /* WALKHAMMER_PROFILE2_H */
