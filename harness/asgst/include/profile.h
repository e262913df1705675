/* SPDX-License-Identifier: Apache-2.0 */
/* AsyncGetStackTrace with the names that JEP 435 gives its types and constants, for clients that
   were written for the JEP. libasgst.so implements it on a stock JDK. The declarations are our own,
   written from the facts in the published document. asgst.h declares the same functions with
   prefixed types and constants, and libasgst's extensions. A source file includes only one of them.

   Walks need libasgst to be attached to the JVM. Start java with -agentpath:PATH/libasgst.so before
   the client's own -agentpath. The client then needs no change, and no link with libasgst.

   Signal-safe: both functions yes, on threads where SIGSEGV and SIGBUS are not blocked and reach
   the JVM's handlers. */
#ifndef WALKHAMMER_PROFILE_H
#define WALKHAMMER_PROFILE_H

#if defined(WALKHAMMER_ASGST_H) || defined(WALKHAMMER_PROFILE_LATE_H)
#error "profile.h declares the same names as asgst.h and profile_late.h: include only one"
#endif

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CallFrame.type, in one byte: C has no enums of that size before C23. */
#ifdef __cplusplus
enum FrameTypeId : uint8_t {
#else
typedef uint8_t FrameTypeId;
enum {
#endif
  FRAME_JAVA = 1,         /* compiled or interpreted */
  FRAME_JAVA_INLINED = 2, /* inlined into the next, older frame */
  FRAME_NATIVE = 3,       /* of a native method */
  FRAME_STUB = 4,         /* generated code that belongs to no method */
  FRAME_CPP = 5           /* C or C++ code */
};

/* Values of CallTrace.num_frames if there are no frames; asgst.h says what each means. */
enum Error {
  NO_JAVA_FRAME = 0,
  NO_CLASS_LOAD = -1,
  GC_ACTIVE = -2,
  UNKNOWN_NOT_JAVA = -3,
  NOT_WALKABLE_NOT_JAVA = -4,
  UNKNOWN_JAVA = -5,
  UNKNOWN_STATE = -7,
  THREAD_EXIT = -8,
  DEOPT = -9,
  THREAD_NOT_JAVA = -10
};

typedef struct {
  FrameTypeId type;
  int8_t comp_level;   /* 0 interpreted, 1 to 3 C1, 4 C2 */
  uint16_t bci;        /* bytecode index; 65535: none, as in native methods */
  jmethodID method_id; /* null if the method has no jmethodID */
} JavaFrame;

typedef struct {
  FrameTypeId type;
  void* pc;
} NonJavaFrame;

typedef union {
  FrameTypeId type;
  JavaFrame java_frame; /* FRAME_JAVA, FRAME_JAVA_INLINED, FRAME_NATIVE */
  NonJavaFrame non_java_frame;
} CallFrame;

typedef struct {
  jint num_frames;   /* or an Error */
  CallFrame* frames; /* the caller's array for at least `depth` frames; newest frame first */
  void* frame_info;  /* becomes null */
} CallTrace;

/* Walks the current thread from the registers in `ucontext`, a ucontext_t* that a signal handler
   received; null: from the thread's anchor, where it last left Java. Writes at most `depth` frames
   to trace->frames, and their number or an Error to trace->num_frames. `options`: bit 0 adds the
   frames of C and C++ code and of stubs; bit 1 also walks threads that are not Java threads. */
JNIEXPORT void JNICALL AsyncGetStackTrace(CallTrace* trace, jint depth, void* ucontext,
                                          uint32_t options);
/* Calls AsyncGetStackTrace. This was its name in the JEP's first draft. */
JNIEXPORT void JNICALL AsyncGetCallTrace2(CallTrace* trace, jint depth, void* ucontext,
                                          uint32_t options);

#ifdef __cplusplus
}
static_assert(sizeof(CallFrame) == 16 && sizeof(JavaFrame) == 16 &&
              offsetof(JavaFrame, comp_level) == 1 && offsetof(JavaFrame, bci) == 2 &&
              offsetof(JavaFrame, method_id) == 8 && offsetof(NonJavaFrame, pc) == 8);
static_assert(sizeof(CallTrace) == 24 && offsetof(CallTrace, frames) == 8 &&
              offsetof(CallTrace, frame_info) == 16);
#endif

#endif /* WALKHAMMER_PROFILE_H */
