/* SPDX-License-Identifier: Apache-2.0 */
/* AsyncGetStackTrace as in the last prototypes of JEP 435: the trace has a kind and the thread's
   state. For clients that were written for those prototypes. Include it instead of profile.h,
   asgst.h and asgst_iterator.h, which give some of the names other values. The declarations are our
   own, written from facts.

   The prototypes export it under the same name as JEP 435's function, with another layout. One
   symbol cannot serve both, so libasgst exports the function under another name, and the macro
   below maps the old name to it. Recompile such a client, and link or load it like those of
   profile.h.

   Signal-safe: yes, as AsyncGetStackTrace of profile.h. */
#ifndef WALKHAMMER_PROFILE_LATE_H
#define WALKHAMMER_PROFILE_LATE_H

#if defined(WALKHAMMER_ASGST_H) || defined(WALKHAMMER_PROFILE_H) || \
    defined(WALKHAMMER_ASGST_ITERATOR_H)
#error "profile_late.h declares the same names as the other headers of libasgst: include only one"
#endif

#include <jni.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ASGST_CallTrace.num_frames, if there is no frame: down to -10 as in JEP 435 */
enum ASGST_Error {
  ASGST_NO_JAVA_FRAME = 0,
  ASGST_NO_CLASS_LOAD = -1,
  ASGST_GC_ACTIVE = -2,
  ASGST_UNKNOWN_NOT_JAVA = -3,
  ASGST_NOT_WALKABLE_NOT_JAVA = -4,
  ASGST_UNKNOWN_JAVA = -5,
  ASGST_NOT_WALKABLE_JAVA = -6, /* never */
  ASGST_UNKNOWN_STATE = -7,
  ASGST_THREAD_EXIT = -8,
  ASGST_DEOPT = -9,
  ASGST_THREAD_NOT_JAVA = -10,
  ASGST_NO_THREAD = -11,    /* never: each walk is of the current thread */
  ASGST_UNSAFE_STATE = -12, /* never */
  ASGST_WRONG_STATE = -13,  /* the thread's state has no bit of the mask */
  ASGST_WRONG_KIND = -14    /* the trace's kind is not in the mask */
};

enum ASGST_FrameTypeId {
  ASGST_FRAME_JAVA = 1,
  ASGST_FRAME_JAVA_INLINED = 2,
  ASGST_FRAME_NATIVE = 3,
  ASGST_FRAME_CPP = 4 /* C and C++ code, and stubs */
};

enum ASGST_TRACE_KIND {
  ASGST_JAVA_TRACE = 1,        /* of a Java thread, with or without Java frames */
  ASGST_CPP_TRACE = 2,         /* of a thread that is not a Java thread */
  ASGST_GC_TRACE = 4,          /* never */
  ASGST_DEOPT_TRACE = 8,       /* num_frames is ASGST_DEOPT */
  ASGST_NEW_THREAD_TRACE = 16, /* of a Java thread that has not run Java code yet */
  ASGST_UNKNOWN_TRACE = 32     /* libasgst is not attached, or the walk failed otherwise */
};

/* Bits. The last two have no effect: threads are walked in all states, and each walk is of the
   current thread. */
enum ASGST_Options {
  ASGST_INCLUDE_C_FRAMES = 1,
  ASGST_INCLUDE_NON_JAVA_THREADS = 2,
  ASGST_WALK_DURING_UNSAFE_STATES = 4,
  ASGST_WALK_SAME_THREAD = 8
};

typedef struct {
  uint8_t type;
  int8_t comp_level;
  uint16_t bci; /* 65535: none, as in native methods */
  jmethodID method_id;
} ASGST_JavaFrame;

typedef struct {
  uint8_t type;
  void* pc;
} ASGST_NonJavaFrame;

typedef union {
  uint8_t type;
  ASGST_JavaFrame java_frame;
  ASGST_NonJavaFrame non_java_frame;
} ASGST_CallFrame;

/* `kind` and `state` are in and out: before the walk, masks of what the caller accepts (0: all);
   after it, those of the trace. A trace of a thread that is not a Java thread has the state -1,
   which each mask accepts. */
typedef struct {
  jint num_frames;
  uint8_t kind;
  jint state; /* as JVMTI's GetThreadState: see ASGST_ThreadState of asgst_iterator.h */
  ASGST_CallFrame* frames;
  void* frame_info; /* becomes null */
} ASGST_CallTrace;

/* Walks the current thread, as AsyncGetStackTrace of profile.h does. `trace->frames`: array of the
   caller, of `depth` frames, filled newest frame first. `ucontext`: the ucontext_t* that a signal
   handler received; null: the walk begins at the thread's anchor. `options`: ASGST_Options. Sets
   `num_frames` to the number of frames or to an ASGST_Error, and `kind` and `state` to those of the
   trace. If a mask refuses one of them, `num_frames` is ASGST_WRONG_KIND or ASGST_WRONG_STATE, and
   `frames` may be overwritten anyway. */
JNIEXPORT void JNICALL asgst_get_stack_trace_of_kind(ASGST_CallTrace* trace, jint depth,
                                                     void* ucontext, int32_t options);
#define AsyncGetStackTrace asgst_get_stack_trace_of_kind

#ifdef __cplusplus
}
static_assert(sizeof(ASGST_CallFrame) == 16 && offsetof(ASGST_JavaFrame, comp_level) == 1 &&
              offsetof(ASGST_JavaFrame, bci) == 2 && offsetof(ASGST_JavaFrame, method_id) == 8 &&
              offsetof(ASGST_NonJavaFrame, pc) == 8);
static_assert(sizeof(ASGST_CallTrace) == 32 && offsetof(ASGST_CallTrace, kind) == 4 &&
              offsetof(ASGST_CallTrace, state) == 8 && offsetof(ASGST_CallTrace, frames) == 16 &&
              offsetof(ASGST_CallTrace, frame_info) == 24);
#endif

#endif /* WALKHAMMER_PROFILE_LATE_H */
