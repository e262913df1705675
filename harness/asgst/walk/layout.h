// SPDX-License-Identifier: Apache-2.0
// WalkLayout: where a JVM keeps what a walk reads. All of it comes from vmStructs, but for the
// slots of an interpreted frame and the compressed numbers of debug information, whose sources are
// named. Signal-safe: the plain data yes; ReadWalkLayout no.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_

#include <cstdint>

#include "harness/asgst/walk/prologue.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Byte offsets; -1: this JDK has no such field.
struct WalkLayout {
  int feature;             // 11, 25
  const CodeRules* rules;  // of the architecture that the code is for

  JvmLayout jvm;
  CodeLayout code;

  // nmethod
  int compile_id;
  int mh_deopt_begin, mh_deopt_offset;  // CodeLayout's deopt_*, for calls of method handles
  int pcs_offset, pcs_end_offset;       // of the nmethod, or of its immutable data
  // An address (JDK 11 to 21), or an offset in the nmethod (8) or in its immutable data.
  int scopes_begin, scopes_offset;
  int immutable_data;  // JDK 23 and later
  bool metadata_is_short;
  int metadata_offset;                        // in the nmethod
  int mutable_data, relocation_size;          // JDK 25: metadata stands behind the relocations
  int pc_desc_size, pc_offset, scope_offset;  // PcDesc
  bool null_free_numbers;  // JDK 20 and later: compressed numbers have no zero bytes (JDK-8292758)

  // Methods
  int access_flags;  // Method
  int const_bytes;   // size of ConstMethod; the byte codes follow
  MethodTable table;
  bool ids_are_numbers;  // jmethodIDs, from JDK 26 on

  // Entry frames: what calls Java from native code.
  uint64_t call_stub_return;  // StubRoutines::_call_stub_return_address
  int call_wrapper;           // frame::entry_frame_call_wrapper_offset, bytes from fp
  int wrapper_anchor;         // JavaCallWrapper::_anchor

  // A mounted virtual thread, JDK 21 and later; -1 or 0: not known. vmStructs of 21 to 24 have none
  // of it: FindContinuations.
  int cont_entry;       // JavaThread::_cont_entry: where the newest continuation was entered
  int cont_entry_size;  // of a ContinuationEntry; 0: as the size of enterSpecial's frame tells
  uint64_t
      cont_return_at;  // of ContinuationEntry::_return_pc, within enterSpecial once that is made

  // JavaThread::_vframe_array_head, which is not null from the moment that a compiled frame's
  // contents are taken for deoptimisation until the interpreted frames in its place are whole; 0 or
  // less: not known.
  int unpacked_frames;

  // Slots of an interpreted frame, bytes from fp; see also CodeRules. The first is in vmStructs,
  // the others are those of frame_x86.hpp and frame_aarch64.hpp: the method's is the same from JDK
  // 8 to 28, that of the byte code pointer from JDK 9 on.
  int sender_sp, interpreter_method, interpreter_bcp;
};

// Fails with kUnable when a vmStructs entry is missing. The code heaps must have been made.
Result<WalkLayout> ReadWalkLayout(const VmStructs& structs, int feature);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_
