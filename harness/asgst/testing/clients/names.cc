// SPDX-License-Identifier: Apache-2.0
// names.c as C++, where the enums are types of their own.
#include "names.c"  // NOLINT(bugprone-suspicious-include)

static_assert(sizeof(CallFrame::type) == sizeof(FrameTypeId));
// A client may keep what it reads in variables of the documents' types.
inline FrameTypeId TypeOf(const CallFrame& frame) { return frame.type; }
