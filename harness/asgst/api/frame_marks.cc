// SPDX-License-Identifier: Apache-2.0
// Frame marks: declared, not offered. docs/reference.md says why.
#include "harness/asgst/include/asgst_iterator.h"

ASGST_FrameMark* ASGST_RegisterFrameMark(JNIEnv*, ASGST_FrameMarkHandler, int, void*) {
  return nullptr;
}
void ASGST_MoveFrameMark(ASGST_FrameMark*, void*) {}
void* ASGST_GetFrameMarkStackPointer(ASGST_FrameMark*) { return nullptr; }
void ASGST_RemoveFrameMark(ASGST_FrameMark*) {}
