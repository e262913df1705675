// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/walk/layout.h"

namespace walkhammer::asgst {
namespace {

void ReadNmethod(StructReader& read, const VmStructs& structs, WalkLayout& l) {
  l.compile_id = read.Need("nmethod", "_compile_id");
  l.mh_deopt_begin = read.Optional("CompiledMethod", "_deopt_mh_handler_begin");
  l.mh_deopt_offset = read.Optional("nmethod", "_deopt_mh_handler_offset");
  if (l.mh_deopt_offset < 0) l.mh_deopt_offset = read.Optional("nmethod", "_deoptimize_mh_offset");
  l.pcs_offset = read.Need("nmethod", "_scopes_pcs_offset");
  l.immutable_data = read.Optional("nmethod", "_immutable_data");
  l.scopes_begin = read.Optional("CompiledMethod", "_scopes_data_begin");
  l.scopes_offset = l.scopes_begin < 0 ? read.Need("nmethod", "_scopes_data_offset") : -1;
  // What follows the PcDescs.
  l.pcs_end_offset =
      l.immutable_data >= 0 ? l.scopes_offset : read.Need("nmethod", "_dependencies_offset");
  l.metadata_offset = read.Optional("nmethod", "_metadata_offset");
  const std::string offset_type = structs.FieldType("nmethod", "_metadata_offset");
  l.metadata_is_short = offset_type == "u2" || offset_type == "uint16_t";
  l.mutable_data = read.Optional("CodeBlob", "_mutable_data");
  l.relocation_size = read.Optional("CodeBlob", "_relocation_size");
  if (l.metadata_offset < 0 && (l.mutable_data < 0 || l.relocation_size < 0))
    read.Need("nmethod", "_metadata_offset");
  l.pc_desc_size = read.NeedSize("PcDesc");
  l.pc_offset = read.Need("PcDesc", "_pc_offset");
  l.scope_offset = read.Need("PcDesc", "_scope_decode_offset");
  l.null_free_numbers = l.feature >= 20;
}

// Where frames are that are neither compiled any more nor interpreted yet. A `frame` begins with sp
// and pc and ends with fp and the unextended sp (frame.hpp, frame_x86.hpp, frame_aarch64.hpp of JDK
// 8 to 28); on aarch64, where JDK 21 and later have 8 words of it, with one more word.
void ReadUnpacked(StructReader& read, const VmStructs& structs, WalkLayout& l) {
  constexpr int kWord = 8, kWithTrust = 8 * kWord;
  UnpackedLayout& u = l.unpacked;
  l.unpacked_frames = read.Optional("JavaThread", "_vframe_array_head");
  const int caller = read.Optional("vframeArray", "_caller");
  const auto array = structs.SizeOf("vframeArray"), element = structs.SizeOf("vframeArrayElement"),
             frame = structs.SizeOf("frame");
  u.count = read.Optional("vframeArray", "_frames");
  u.bci = read.Optional("vframeArrayElement", "_bci");
  u.method = read.Optional("vframeArrayElement", "_method");
  if (caller < 0 || u.count < 0 || u.bci < 0 || u.method < 0 || !array || !element || !frame)
    return;
  const int frame_size = static_cast<int>(*frame);
  const bool has_trust = l.rules->has_link_register && frame_size >= kWithTrust;
  u.caller_sp = caller;
  u.caller_pc = caller + kWord;
  u.caller_fp = caller + frame_size - (has_trust ? 3 : 2) * kWord;
  u.element_size = static_cast<int>(*element);
  u.elements = static_cast<int>(*array - *element);  // the array's type has one element
}

void ReadFrames(StructReader& read, const VmStructs& structs, WalkLayout& l) {
  l.wrapper_anchor = read.Need("JavaCallWrapper", "_anchor");
  // vmStructs declare this constant on x86_64 only.
  l.call_wrapper = 8 * structs.Constant("frame::entry_frame_call_wrapper_offset")
                           .value_or(l.rules->slots.entry_wrapper);
  // vmStructs declare this constant on x86_64 from JDK 9 on only; elsewhere it is -1
  // (frame_x86.hpp, frame_aarch64.hpp).
  const bool is_declared = l.feature >= 9 && !l.rules->has_link_register;
  constexpr char kSenderSp[] = "frame::interpreter_frame_sender_sp_offset";
  l.sender_sp =
      8 * (is_declared ? read.NeedConstant(kSenderSp) : structs.Constant(kSenderSp).value_or(-1));
  l.upcall_data = read.Optional("UpcallStub", "_frame_data_offset");
  l.interpreter_method = -3 * 8;
  // JDK 9 added the slot of the method's mirror above this slot.
  l.interpreter_bcp = 8 * l.rules->slots.interpreter_bcp + (l.feature < 9 ? 8 : 0);
}

}  // namespace

Result<WalkLayout> ReadWalkLayout(const VmStructs& structs, int feature, const MemoryReader& memory,
                                  const CodeRules& rules) {
  WalkLayout l{};
  l.feature = feature;
  l.rules = &rules;
  ASSIGN_OR_RETURN(l.jvm, ReadLayout(structs));
  ASSIGN_OR_RETURN(l.code, ReadCodeLayout(structs, memory));
  ASSIGN_OR_RETURN(l.table, ReadMethodTable(structs));
  StructReader read(structs);
  ReadNmethod(read, structs, l);
  l.access_flags = read.Need("Method", "_access_flags");
  l.const_bytes = read.NeedSize("ConstMethod");
  l.ids_are_numbers = l.feature >= kFirstFeatureWithNumbers;
  ReadFrames(read, structs, l);
  ReadUnpacked(read, structs, l);
  l.cont_entry = read.Optional("JavaThread", "_cont_entry");
  l.cont_entry_size = static_cast<int>(structs.SizeOf("ContinuationEntry").value_or(0));
  l.cont_return_at = reinterpret_cast<uint64_t>(structs.Static("ContinuationEntry", "_return_pc"));
  auto* call_stub = read.NeedStatic("StubRoutines", "_call_stub_return_address");
  RETURN_IF_ERROR(read.Complete());
  if (!memory.ReadWord(reinterpret_cast<uint64_t>(call_stub), l.call_stub_return))
    return Unable("the address of this JVM's call stub cannot be read");
  return l;
}

void FindContinuations(uint64_t return_pc, uint64_t barrier, const MemoryReader& memory,
                       WalkLayout& l) {
  if (l.cont_entry >= 0 || l.feature < 21 || l.rules->loads_sp_from == nullptr) return;
  uint64_t code = 0;
  if (return_pc != 0) l.cont_return_at = return_pc;
  if (barrier != 0 && memory.ReadWord(barrier, code))
    l.cont_entry = l.rules->loads_sp_from(memory, code);
}

}  // namespace walkhammer::asgst
