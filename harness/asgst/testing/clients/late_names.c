/* SPDX-License-Identifier: Apache-2.0 */
/* The names and values of profile_late.h and asgct.h: fails to compile if one is missing or
   different. */
#include <assert.h>
#include <profile_late.h>

#define ASGST_CALL_TRACE_BY_ID
#include <asgct.h>

static_assert(ASGST_NOT_WALKABLE_JAVA == -6 && ASGST_THREAD_EXIT == -8 &&
                  ASGST_THREAD_NOT_JAVA == -10 && ASGST_NO_THREAD == -11 &&
                  ASGST_UNSAFE_STATE == -12 && ASGST_WRONG_STATE == -13 && ASGST_WRONG_KIND == -14,
              "ASGST_Error");
static_assert(ASGST_FRAME_NATIVE == 3 && ASGST_FRAME_CPP == 4, "ASGST_FrameTypeId");
static_assert(ASGST_JAVA_TRACE == 1 && ASGST_CPP_TRACE == 2 && ASGST_GC_TRACE == 4 &&
                  ASGST_DEOPT_TRACE == 8 && ASGST_NEW_THREAD_TRACE == 16 &&
                  ASGST_UNKNOWN_TRACE == 32,
              "ASGST_TRACE_KIND");
static_assert(ASGST_INCLUDE_C_FRAMES == 1 && ASGST_INCLUDE_NON_JAVA_THREADS == 2 &&
                  ASGST_WALK_DURING_UNSAFE_STATES == 4 && ASGST_WALK_SAME_THREAD == 8,
              "ASGST_Options");

void Use(ASGST_CallTrace* late, ASGCT_CallTrace* other, void* ucontext);
void Use(ASGST_CallTrace* late, ASGCT_CallTrace* other, void* ucontext) {
  late->kind = ASGST_JAVA_TRACE;
  late->state = 0;
  AsyncGetStackTrace(late, 1, ucontext, ASGST_WALK_SAME_THREAD);
  AsyncGetCallTrace(other, 1, ucontext, (jlong)-1);
}
