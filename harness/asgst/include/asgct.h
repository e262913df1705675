/* SPDX-License-Identifier: Apache-2.0 */
/* AsyncGetCallTrace as two experiments have it, which walk another thread while their caller keeps
   that thread parked. libasgst walks; libjvm's own AsyncGetCallTrace plays no part. The
   declarations are our own, written from the facts in the published document.

   libasgst exports no symbol named AsyncGetCallTrace. Profilers look for libjvm's by name, some
   with dlsym(RTLD_DEFAULT, ...): as an agent or with LD_PRELOAD, libasgst is in the global scope,
   and a profiler that knows nothing of it would walk by another function than it believes. A client
   that needs one of the two defines a macro before it includes this header, and is compiled anew:

     #define ASGST_CALL_TRACE_BY_ENV      AsyncGetCallTrace(trace, depth, ucontext)
     #define ASGST_CALL_TRACE_BY_ID       AsyncGetCallTrace(trace, depth, ucontext, os_thread_id)

   Signal-safe: both functions yes, on any thread, also on one that the JVM does not know. */
#ifndef WALKHAMMER_ASGCT_H
#define WALKHAMMER_ASGCT_H

#include <jni.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  jint lineno; /* bytecode index; -3: a native method */
  jmethodID method_id;
} ASGCT_CallFrame;

typedef struct {
  JNIEnv* env_id;
  jint num_frames;         /* or a code of AsyncGetCallTrace: see below */
  ASGCT_CallFrame* frames; /* array of the caller, filled newest frame first */
} ASGCT_CallTrace;

/* Codes: 0 no Java frame; -1 libasgst is not attached; -4 and -5 the newest Java frame is not to be
   found; -7 unknown state; -8 the thread is not a Java thread of the JVM, or is the
   current thread, and ends; -9 deoptimisation.

   Walks the thread whose JNIEnv is `trace->env_id`; null: the current thread. `ucontext`: if that
   thread is parked in a signal handler, what the handler received; null: from where the thread last
   left Java. Writes at most `depth` frames. If the thread runs on after all, frames may be wrong,
   but the walk does not crash. */
JNIEXPORT void JNICALL asgst_get_call_trace(ASGCT_CallTrace* trace, jint depth, void* ucontext);
/* The same of the thread whose gettid() is `os_thread_id`; -1: the current thread. Sets
   `trace->env_id` to that thread's JNIEnv if it is null. */
JNIEXPORT void JNICALL asgst_get_call_trace_of_os_thread(ASGCT_CallTrace* trace, jint depth,
                                                         void* ucontext, jlong os_thread_id);

#if defined(ASGST_CALL_TRACE_BY_ENV)
#define AsyncGetCallTrace asgst_get_call_trace
#elif defined(ASGST_CALL_TRACE_BY_ID)
#define AsyncGetCallTrace asgst_get_call_trace_of_os_thread
#endif

#ifdef __cplusplus
}
static_assert(sizeof(ASGCT_CallFrame) == 16 && sizeof(ASGCT_CallTrace) == 24);
#endif

#endif /* WALKHAMMER_ASGCT_H */
