/* SPDX-License-Identifier: Apache-2.0 */
/* The iterator, ids, queues and frame marks under the documents' names, for clients that were
   written for those documents: asgst_iterator.h, whose declarations and comments hold here, except
   that the names of asgst.h give way.

     documents and profile2.h                 asgst_iterator.h
     ASGST_FRAME_JAVA                  1      ASGST_FRAME2_JAVA
     ASGST_FRAME_JAVA_INLINED          2      ASGST_FRAME2_JAVA_INLINED
     ASGST_FRAME_JAVA_NATIVE           3      ASGST_FRAME2_JAVA_NATIVE
     ASGST_FRAME_NON_JAVA              4      ASGST_FRAME2_NON_JAVA
     ASGST_THREAD_EXIT                -2      ASGST_THREAD_IS_EXITING (ASGST_THREAD_EXIT of asgst.h
                                              is -8)

   Start java with -agentpath:libasgst.so before the client's own agent; the client then needs no
   change, and need not be linked with libasgst. A source may also include profile.h. */
#ifndef WALKHAMMER_PROFILE2_H
#define WALKHAMMER_PROFILE2_H

#if defined(WALKHAMMER_ASGST_H) || defined(WALKHAMMER_ASGST_ITERATOR_H)
#error "profile2.h declares the same names as asgst.h and asgst_iterator.h: include only one"
#endif

#define ASGST_FRAME2_JAVA ASGST_FRAME_JAVA
#define ASGST_FRAME2_JAVA_INLINED ASGST_FRAME_JAVA_INLINED
#define ASGST_FRAME2_JAVA_NATIVE ASGST_FRAME_JAVA_NATIVE
#define ASGST_FRAME2_NON_JAVA ASGST_FRAME_NON_JAVA
#define ASGST_THREAD_IS_EXITING ASGST_THREAD_EXIT

#include "asgst_iterator.h"

#endif /* WALKHAMMER_PROFILE2_H */
