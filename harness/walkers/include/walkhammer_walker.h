/* SPDX-License-Identifier: Apache-2.0 */
/* walkhammer_walker.h: a stack walker of your own, as a library that walkhammer drives:
 *
 *     cc -shared -fPIC -I"$JAVA_HOME/include" -I"$JAVA_HOME/include/linux" -o mine.so mine.c
 *     walkhammer fuzz --walker plugin:./mine.so
 *     walkhammer stress --walker asgst,plugin:./mine.so --workload 'torture:*'
 *
 * A plugin exports walkhammer_walk; the other functions are optional. docs/howto/own-walker.md has
 * an example. A library that exports AsyncGetCallTrace needs no plugin: --walker agct --provider
 * FILE.
 */
#ifndef WALKHAMMER_WALKER_H_
#define WALKHAMMER_WALKER_H_

#include <jni.h>
#include <stdint.h>
#include <ucontext.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WALKHAMMER_EXPORT __attribute__((visibility("default")))

enum {
  WALKHAMMER_UNKNOWN_BCI = -1, /* the method is right, its bytecode index is not known */
  WALKHAMMER_NATIVE_BCI = -3   /* the frame is of a native method */
};

/* Types of frames, as in JEP 435. */
enum { WALKHAMMER_JAVA = 1, WALKHAMMER_INLINED = 2, WALKHAMMER_NATIVE = 3 };

/* A frame's kind: its type, and the level of its code: 0 interpreted, 1 to 3 C1, 4 C2. 0 instead of
 * a kind: the walker does not report it, and it is not judged. */
#define WALKHAMMER_KIND(type, level) ((type) | (level) << 8)

typedef struct {
  int32_t bci;      /* bytecode index, or one of the values above */
  int32_t kind;     /* WALKHAMMER_KIND, or 0 */
  jmethodID method; /* must not be null */
} walkhammer_frame;

/* Walks the stack whose registers `context` holds. Returns the number of frames, newest first; 0 if
 * there is no Java frame; or an error code of the walker's own, from -1 down to -9000.
 * `env`: of the current thread, whose stack this is unless walkhammer was asked to walk other
 * threads (stress --mode parked or running). `frames`: room for `most` frames, from 1 to 10000;
 * nothing beside them may be written.
 * Called in a signal handler, or with synthetic registers: must be async-signal-safe. */
WALKHAMMER_EXPORT int32_t walkhammer_walk(ucontext_t* context, JNIEnv* env,
                                          walkhammer_frame* frames, int32_t most);

/* Optional. Prepares the walker; called once, before the first walk, on a thread that is attached
 * to the JVM. Returns null, or why this JVM cannot be walked; the text stays valid. If it installs
 * a handler of SIGSEGV, that handler gets each fault of a walk first: it is the walker's own crash
 * protection. What it lets pass is a crash. */
WALKHAMMER_EXPORT const char* walkhammer_setup(JavaVM* vm);

/* Optional. To export this function, which is never called, says that walkhammer_walk walks other
 * threads than the current one. Without it, stress refuses the modes that need it. */
WALKHAMMER_EXPORT void walkhammer_walks_other_threads(void);

#ifdef __cplusplus
}
#endif

#endif /* WALKHAMMER_WALKER_H_ */
