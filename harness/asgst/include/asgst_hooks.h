/* SPDX-License-Identifier: Apache-2.0 */
/* Extension of libasgst: its hooks inside of libjvm, by which handlers are called at the moments
   that the documents name. A hook changes the first byte of a function of libjvm, and stays until
   the process ends. Hooks need x86_64, the names of the functions in libjvm's .symtab, and a kernel
   that lets code be changed. The environment variable ASGST_HOOKS=0 forbids them. Without hooks,
   libasgst works in another way: see asgst_iterator.h.

   The byte is a trap at first. It then becomes the opcode of a jump, whose target the bytes after
   it determine, if the memory there is free and the kernel can synchronise code on all processors
   (membarrier, Linux 4.16). Where hooks stay traps, those of queues and marks make an exception
   cost some microseconds in each compiled frame that it reaches.

   A thread that reaches a trap gets SIGTRAP, which libasgst's handler must receive. So forbid hooks
   if one of these holds:
   - A thread blocks SIGTRAP, for example with all signals, after it has attached to the JVM or
     while libasgst attaches. The kernel ends the process when the thread reaches its first hook.
     For a thread that attaches later, libasgst unblocks SIGTRAP at its ThreadStart event.
   - The process installs another handler for SIGTRAP after the first hooks, and that handler does
     not pass signals on: it takes each hook for a crash. From then on libasgst makes no more hooks.
     An earlier handler does no harm: libasgst passes on the signals of other traps.
   - A debugger keeps SIGTRAP for itself, as gdb does unless it is given
     `handle SIGTRAP nostop noprint pass`. */
#ifndef WALKHAMMER_ASGST_HOOKS_H_
#define WALKHAMMER_ASGST_HOOKS_H_

#include <jni.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  ASGST_HOOKS_UNLOADING = 1, /* unload handlers are called before unloading; set by the first
                                ASGST_RegisterClassUnloadHandler */
  ASGST_HOOKS_POLLS = 2,     /* threads handle their own queues; set by the first
                                ASGST_RegisterQueue or ASGST_RegisterFrameMark */
  ASGST_HOOKS_MARKS = 4      /* frame marks; set by the first ASGST_RegisterFrameMark */
};

/* Returns the hooks that are in place, a mask. Signal-safe: yes. */
JNIEXPORT int JNICALL asgst_hooks(void);

#ifdef __cplusplus
}
#endif

#endif /* WALKHAMMER_ASGST_HOOKS_H_ */
