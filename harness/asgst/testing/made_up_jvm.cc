// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/testing/made_up_jvm.h"

namespace walkhammer::asgst {

MadeUpJvm::MadeUpJvm(const CodeRules& rules) {
  SetLayout(rules);
  PutHeap();
  PutStack();
}

void MadeUpJvm::SetLayout(const CodeRules& rules) {
  layout.feature = 17;
  layout.rules = &rules;
  CodeLayout& code = layout.code;
  code.cache_low = kBounds;
  code.cache_high = kBounds + 8;
  code.interpreter_begin = kInterpreter;
  code.interpreter_end = kCacheEnd;
  code.heaps[0] = kHeap;
  code.heap_count = 1;
  code.memory_low = 0;
  code.memory_high = 8;
  code.log2_segment = 16;
  code.map_low = 24;
  code.map_high = 32;
  code.block_used = 8;
  code.block_size = 16;
  code.blob_name = 0;
  code.frame_size = 8;
  code.frame_complete = 12;
  code.code_begin = 16;
  code.code_end = 24;
  code.level = 32;
  layout.code.method = 40;
  layout.code.original_pc = 48;
  layout.compile_id = 52;
  layout.pcs_offset = 56;
  layout.pcs_end_offset = 60;
  layout.scopes_begin = 64;
  layout.metadata_offset = 72;
  layout.code.deopt_begin = 80;
  layout.code.deopt_offset = layout.mh_deopt_begin = layout.mh_deopt_offset = -1;
  layout.immutable_data = layout.scopes_offset = layout.mutable_data = -1;
  layout.pc_desc_size = 16;
  layout.scope_offset = 4;
  layout.jvm.method_const = layout.table.method_const = 8;
  layout.access_flags = 16;
  layout.table.const_pool = 8;
  layout.table.const_idnum = 16;
  layout.jvm.const_code_size = 18;
  layout.const_bytes = 32;
  layout.table.pool_holder = 24;
  layout.table.ids = 40;
  layout.jvm.anchor = 8;
  layout.jvm.last_pc = 8;
  layout.jvm.last_fp = 16;
  layout.call_wrapper = 8 * rules.slots.entry_wrapper;
  layout.interpreter_bcp = 8 * rules.slots.interpreter_bcp;
  layout.wrapper_anchor = 32;
  layout.cont_entry = layout.upcall_data = -1;
  layout.sender_sp = -8;
  layout.interpreter_method = -24;
}

void MadeUpJvm::PutHeap() {
  memory.Put(kBounds, kCache);
  memory.Put(kBounds + 8, kCacheEnd);
  memory.Put(kHeap, kCache);
  memory.Put(kHeap + 8, kCacheEnd);
  memory.Put(kHeap + 16, kSegment);
  memory.Put(kHeap + 24, kMap);
  memory.Put(kHeap + 32, kMap + 0x1000);
  for (uint64_t i = 0; i < (kCacheEnd - kCache) >> kSegment; i++) memory.PutBytes(kMap + i, {0xff});
  memory.PutText(kNames, "nmethod");
  memory.PutText(kNames + 0x40, "StubRoutines (1)");
  for (uint64_t i = 0; i < 4; i++) AddMethod(i);
  for (uint64_t at = kStack; at < kStackEnd; at += 8) memory.Put(at, 0);
}

void MadeUpJvm::PutStack() {
  leaf = AddCode(0, 4, 16, {{0x20, 1}, {0x28, 8}});
  caller = AddCode(1, 6, 16, {{0x30, 8}});
  stub = AddBlob(4, kNames + 0x40, -1, 0, 0);
  other_stub = AddBlob(5, kNames + 0x40, -1, 0, 0);
  layout.call_stub_return = stub + 0x10;
  // The leaf's own scopes; in the caller, method 2 is inlined into method 1.
  PutScope(leaf, 1, {0, 1, 8});
  PutScope(leaf, 8, {0, 1, 12});
  PutScope(caller, 1, {0, 1, 4});
  PutScope(caller, 8, {1, 2, 6});

  // Frames of the leaf and of its caller, with ret = [sp + size - 8] and fp' = [sp + size - 16]
  // (sizes 32 and 48), and the entry frame from which the caller was called.
  const uint64_t entry_fp = kStack + 0x200, wrapper = kStack + 0x300;
  memory.PutRecord(kLeafSp + 16, 0x1234, caller + 0x30);
  memory.PutRecord(kLeafSp + 32 + 32, entry_fp, layout.call_stub_return);
  memory.Put(entry_fp + layout.call_wrapper, wrapper);
  memory.Put(kThread, 8);  // in_Java
  for (int i = 1; i < 4; i++) memory.Put(kThread + 8ULL * i, 0);
  start.thread = kThread;
  start.stack_high = kStackEnd;
  start.stack_floor = kStack;
  start.registers = {leaf + 0x1c, kLeafSp, 0x1234, 0};
}

void MadeUpJvm::InterpretCaller() {
  const uint64_t fp = kStack + 0x180;
  memory.PutRecord(kLeafSp + 16, fp, kInterpreter + 0x10);
  memory.Put(fp - 24, Method(1));
  memory.Put(fp + layout.interpreter_bcp, Method(1) + 0x100 + 32 + 9);
  memory.Put(fp - 8, fp + 16);
  memory.PutRecord(fp, kStack + 0x200, layout.call_stub_return);
}

void MadeUpJvm::AddMethod(uint64_t number) {
  const uint64_t method = Method(number), const_method = method + 0x100, pool = method + 0x200,
                 holder = method + 0x300, ids = method + 0x400, id = method + 0x500;
  memory.Put(method, 0x77);
  memory.Put(method + 8, const_method);
  memory.Put(method + 16, number == 3 ? 0x100 : 0);  // method 3 is native
  memory.Put(const_method + 8, pool);
  memory.Put(const_method + 16, 50 << 16);  // number 0, 50 bytes of bytecode
  memory.Put(pool + 24, holder);
  memory.Put(holder + 40, ids);
  memory.Put(ids, 1);
  memory.Put(ids + 8, id);
  memory.Put(id, method);
}

uint64_t MadeUpJvm::AddBlob(uint64_t number, uint64_t name, int level, uint32_t frame_words,
                            uint32_t complete) {
  const uint64_t block = kCache + 0x400 * number, blob = block + 16, begin = block + 0x200;
  for (uint64_t i = 0; i < 0x400 >> kSegment; i++)
    memory.PutBytes(kMap + ((block - kCache) >> kSegment) + i, {static_cast<uint8_t>(i)});
  for (uint64_t at = block; at < block + 0x400; at += 8) memory.Put(at, 0);
  memory.PutBytes(block + 8, {1});
  memory.Put(blob, name);
  memory.PutInt(blob + 8, frame_words);
  memory.PutInt(blob + 12, complete);
  memory.Put(blob + 16, begin);
  memory.Put(blob + 24, block + 0x400);
  memory.PutInt(blob + 32, static_cast<uint32_t>(level));
  return begin;
}

uint64_t MadeUpJvm::AddCode(uint64_t number, uint32_t frame_words, uint32_t complete,
                            const std::vector<Described>& pcs) {
  const uint64_t begin = AddBlob(number, kNames, 4, frame_words, complete), blob = begin - 0x1f0;
  memory.Put(blob + 40, Method(number));
  memory.PutInt(blob + 52, static_cast<uint32_t>(number + 1));
  memory.PutInt(blob + 56, 0x80);
  memory.PutInt(blob + 60, static_cast<uint32_t>(0x80 + 16 * (pcs.size() + 2)));
  memory.Put(blob + 64, blob + 0x160);
  memory.PutInt(blob + 72, 0x140);
  uint64_t at = blob + 0x80;
  auto describe = [&](uint32_t offset, uint32_t scope) {
    memory.PutInt(at, offset);
    memory.PutInt(at + 4, scope);
    at += 16;
  };
  describe(0xffffffff, 0);
  for (const Described& one : pcs) describe(one.offset, one.scope);
  describe(0x7fffffff, 0);
  memory.Put(blob + 0x140, Method(number));
  memory.Put(blob + 0x148, Method(2));
  return begin;
}

void MadeUpJvm::PutScope(uint64_t code, uint64_t offset, const std::vector<uint8_t>& numbers) {
  memory.PutBytes(code - 0x1f0 + 0x160 + offset, numbers);
}

}  // namespace walkhammer::asgst
