// SPDX-License-Identifier: Apache-2.0
// WalkLayout: where a JVM keeps the data that a walk reads. All of WalkLayout comes from vmStructs,
// except some slots of frames, the form of compressed numbers in debug information, virtual threads
// of JDK 21 to 24, their stacks in the heap, and known virtual tables; their sources are named.
// Signal-safe: the plain data yes; ReadWalkLayout no.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_

#include <cstdint>

#include "harness/asgst/walk/prologue.h"
#include "harness/asgst/walk/virtual_tables.h"
#include "harness/base/result.h"
#include "harness/jvm/structs/code_finder.h"
#include "harness/jvm/structs/method_table.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer::asgst {

// Where stacks of virtual threads lie in the heap. Byte offsets. Not of vmStructs: see
// process/stack_chunks.h.
struct ChunkLayout {
  int tail;        // jdk.internal.vm.Continuation: its newest jdk.internal.vm.StackChunk
  int parent;      // StackChunk: the next older one
  int size, sp;    // words; index of the newest frame's sp
  int bottom;      // index of the end of the oldest frame
  int stack;       // from the object to its words; 0: not known, or collectors may move
                   // chunks under a running thread
  bool is_narrow;  // references in objects have 4 bytes: base + (reference << shift)
  uint64_t narrow_base;
  int narrow_shift;
  // Address of SafepointSynchronize::_safepoint_counter, odd during a safepoint; 0: not known.
  uint64_t safepoints_at;
  uint64_t yield;  // Method* of Continuation.doYield, which moves frames to the heap; 0: not known
};

// A vframeArray: the frames that deoptimisation makes of a compiled one, and that one's caller.
// Byte offsets; all from vmStructs, except the fields of a C++ `frame`: see ReadUnpacked().
struct UnpackedLayout {
  int caller_pc, caller_sp, caller_fp;  // in vframeArray::_caller, a `frame`
  int count;                            // vframeArray::_frames, an int
  int elements;      // vframeArray::_elements: one for each frame, newest first; 0: not known
  int element_size;  // bytes of a vframeArrayElement
  int bci, method;   // in an element
};

// Byte offsets; -1: this JDK has no such field.
struct WalkLayout {
  int feature;             // JDK version: 11, 25
  const CodeRules* rules;  // of the architecture that the code is for

  JvmLayout jvm;
  CodeLayout code;

  // nmethod
  int compile_id;
  int mh_deopt_begin, mh_deopt_offset;  // as CodeLayout's deopt_*, for calls of method handles
  int pcs_offset, pcs_end_offset;       // offsets in the nmethod or its immutable data
  // Scope data: an address (JDK 11 to 21), or an offset in the nmethod (8) or its immutable data.
  int scopes_begin, scopes_offset;
  int immutable_data;  // JDK 23 and later
  bool metadata_is_short;
  int metadata_offset;                        // in the nmethod
  int mutable_data, relocation_size;          // JDK 25: metadata follows the relocations
  int pc_desc_size, pc_offset, scope_offset;  // PcDesc
  bool null_free_numbers;  // JDK 20 and later: compressed numbers have no zero bytes (JDK-8292758)

  // Methods
  int access_flags;  // Method
  int const_bytes;   // size of ConstMethod; the bytecodes follow
  MethodTable table;
  bool ids_are_numbers;  // jmethodIDs, from JDK 26 on

  // Entry frames, through which native code calls Java.
  uint64_t call_stub_return;  // StubRoutines::_call_stub_return_address
  int call_wrapper;           // frame::entry_frame_call_wrapper_offset, bytes from fp
  int wrapper_anchor;         // JavaCallWrapper::_anchor
  // Blobs through which C calls Java (FFM): UpcallStub::_frame_data_offset, a field that holds how
  // many bytes above sp the blob keeps the thread's previous anchor; -1: JDK 8 to 19.
  int upcall_data;

  // A mounted virtual thread, JDK 21 and later; -1 or 0: not known. vmStructs of JDK 21 to 24 lack
  // these fields: FindContinuations (process/attach.cc) finds them.
  int cont_entry;       // JavaThread::_cont_entry: the newest ContinuationEntry
  int cont_entry_size;  // bytes of a ContinuationEntry; 0: size of enterSpecial's frame - 16
  uint64_t
      cont_return_at;  // address of ContinuationEntry::_return_pc, a pc in enterSpecial once set
  ChunkLayout chunks;

  // Offset of JavaThread::_vframe_array_head, which is not null from the moment that deoptimisation
  // takes a compiled frame's contents until the interpreted frames that replace it are complete; 0
  // or less: not known. `unpacked`: of what it points to.
  int unpacked_frames;
  UnpackedLayout unpacked;

  // Slots of an interpreted frame, bytes from fp; see also CodeRules::slots. sender_sp is from
  // vmStructs, the others are from frame_x86.hpp and frame_aarch64.hpp: interpreter_method is the
  // same from JDK 8 to 28, interpreter_bcp from JDK 9 on.
  int sender_sp, interpreter_method, interpreter_bcp;

  // First words of Methods that are known so far; null: none is. Not of vmStructs.
  const VirtualTables* method_tables;
};

// Fails with kUnable when a required vmStructs entry is missing. The JVM must have made its code
// heaps. `memory`: of that JVM. `rules`: of the architecture that its code is for.
Result<WalkLayout> ReadWalkLayout(const VmStructs& structs, int feature,
                                  const MemoryReader& memory = kOwnMemory,
                                  const CodeRules& rules = kOwnRules);

// Symbols of libjvm, for FindContinuations.
inline constexpr char kContinuationReturnPc[] = "_ZN17ContinuationEntry10_return_pcE";
inline constexpr char kSafepoints[] = "_ZN20SafepointSynchronize18_safepoint_counterE";
inline constexpr char kReturnBarrier[] = "_ZN12StubRoutines19_cont_returnBarrierE";
// vmStructs of JDK 21 to 24 have no continuations. There the symbol ContinuationEntry::_return_pc
// leads to the pc where calls return into enterSpecial. The return barrier of virtual threads
// begins by loading sp from JavaThread::_cont_entry, which gives this field's offset. The addresses
// are those of the two symbols; 0: not known.
void FindContinuations(uint64_t return_pc, uint64_t barrier, const MemoryReader& memory,
                       WalkLayout& layout);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_LAYOUT_H_
