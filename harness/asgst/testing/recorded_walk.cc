// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/testing/recorded_walk.h"

#include <sstream>

namespace walkhammer::asgst {
namespace {

constexpr char kTitle[] = "recorded-walk 1";
constexpr size_t kMostFrames = 200;

// Visits each number of a layout with its name; a record has names because fields may come and go.
// long: a line a field.
template <typename Visit>
void ForEachNumber(WalkLayout& l, Visit visit) {
  visit("feature", l.feature);
  visit("thread_state", l.jvm.thread_state);
  visit("anchor", l.jvm.anchor);
  visit("stack_base", l.jvm.stack_base);
  visit("stack_size", l.jvm.stack_size);
  visit("last_sp", l.jvm.last_sp);
  visit("last_pc", l.jvm.last_pc);
  visit("last_fp", l.jvm.last_fp);
  visit("method_code", l.jvm.method_code);
  visit("method_const", l.jvm.method_const);
  visit("const_code_size", l.jvm.const_code_size);
  visit("cache_low", l.code.cache_low);
  visit("cache_high", l.code.cache_high);
  visit("interpreter_begin", l.code.interpreter_begin);
  visit("interpreter_end", l.code.interpreter_end);
  for (int i = 0; i < CodeLayout::kMostHeaps; i++)
    visit("heap" + std::to_string(i), l.code.heaps[i]);
  visit("heap_count", l.code.heap_count);
  visit("memory_low", l.code.memory_low);
  visit("memory_high", l.code.memory_high);
  visit("map_low", l.code.map_low);
  visit("map_high", l.code.map_high);
  visit("log2_segment", l.code.log2_segment);
  visit("block_used", l.code.block_used);
  visit("block_size", l.code.block_size);
  visit("blob_name", l.code.blob_name);
  visit("frame_complete", l.code.frame_complete);
  visit("frame_size", l.code.frame_size);
  visit("frame_complete_is_short", l.code.frame_complete_is_short);
  visit("code_begin", l.code.code_begin);
  visit("code_end", l.code.code_end);
  visit("code_offset", l.code.code_offset);
  visit("data_offset", l.code.data_offset);
  visit("level", l.code.level);
  visit("method", l.code.method);
  visit("original_pc", l.code.original_pc);
  visit("level_is_byte", l.code.level_is_byte);
  visit("deopt_begin", l.code.deopt_begin);
  visit("deopt_offset", l.code.deopt_offset);
  visit("header_bytes", l.code.header_bytes);
  visit("compile_id", l.compile_id);
  visit("mh_deopt_begin", l.mh_deopt_begin);
  visit("mh_deopt_offset", l.mh_deopt_offset);
  visit("pcs_offset", l.pcs_offset);
  visit("pcs_end_offset", l.pcs_end_offset);
  visit("scopes_begin", l.scopes_begin);
  visit("scopes_offset", l.scopes_offset);
  visit("immutable_data", l.immutable_data);
  visit("metadata_is_short", l.metadata_is_short);
  visit("metadata_offset", l.metadata_offset);
  visit("mutable_data", l.mutable_data);
  visit("relocation_size", l.relocation_size);
  visit("pc_desc_size", l.pc_desc_size);
  visit("pc_offset", l.pc_offset);
  visit("scope_offset", l.scope_offset);
  visit("null_free_numbers", l.null_free_numbers);
  visit("access_flags", l.access_flags);
  visit("const_pool", l.table.const_pool);
  visit("const_idnum", l.table.const_idnum);
  visit("const_bytes", l.const_bytes);
  visit("pool_holder", l.table.pool_holder);
  visit("jmethod_ids", l.table.ids);
  visit("call_stub_return", l.call_stub_return);
  visit("call_wrapper", l.call_wrapper);
  visit("wrapper_anchor", l.wrapper_anchor);
  visit("cont_entry", l.cont_entry);
  visit("cont_entry_size", l.cont_entry_size);
  visit("cont_return_at", l.cont_return_at);
  visit("unpacked_frames", l.unpacked_frames);
  visit("upcall_data", l.upcall_data);
  visit("sender_sp", l.sender_sp);
  visit("interpreter_method", l.interpreter_method);
  visit("interpreter_bcp", l.interpreter_bcp);
}
// Not of `chunks` and `unpacked`: a recorded walk leaves out what is not on the stack.
static_assert(sizeof(WalkLayout) == 528, "a field came or went: ForEachNumber must visit it");

template <typename Visit>
void ForEachRegister(WalkStart& s, Visit visit) {
  visit("pc", s.registers.pc);
  visit("sp", s.registers.sp);
  visit("fp", s.registers.fp);
  visit("lr", s.registers.lr);
  visit("bcp_register", s.java.byte_code);
  visit("sender_sp_register", s.java.sender_sp);
  visit("return_register", s.java.return_pc);
  visit("exception_pc_register", s.java.exception_pc);
  visit("first_argument_register", s.java.first_argument);
  for (int i = 0; i < 16; i++) visit("general" + std::to_string(i), s.java.general[i]);
  visit("thread", s.thread);
  visit("stack_high", s.stack_high);
  visit("stack_floor", s.stack_floor);
}

std::string RestOf(std::istream& line) {
  std::string text;
  std::getline(line >> std::ws, text);
  return text;
}

}  // namespace

void PrintTo(const RecordedFrame& frame, std::ostream* out) {
  *out << frame.method << " @ " << frame.bci << " level " << frame.level << " type " << frame.type;
}

std::vector<RecordedFrame> RecordedWalk::Walk(
    const MemoryReader& words,
    const std::function<std::string(const JavaFrame& frame)>& name) const {
  JavaWalk walk(layout, words, start);
  std::vector<RecordedFrame> all;
  if (walk.Begin() != WalkStatus::kFound) return all;
  for (JavaFrame frame; all.size() < kMostFrames && walk.Next(frame);)
    all.push_back({name(frame), frame.bci, frame.level, static_cast<int>(frame.type)});
  return all;
}

std::vector<RecordedFrame> RecordedWalk::Again() const {
  return Walk(memory, [this](const JavaFrame& frame) {
    const auto known = methods.find(frame.method);
    return known == methods.end() ? "unknown" : known->second;
  });
}

void Write(const RecordedWalk& walk, std::ostream& out) {
  out << kTitle << "\narch " << walk.arch << "\n" << std::hex << std::showbase;
  WalkLayout layout = walk.layout;
  ForEachNumber(layout, [&](const std::string& name, auto number) {
    out << "layout " << name << " " << static_cast<uint64_t>(number) << "\n";
  });
  WalkStart start = walk.start;
  ForEachRegister(start, [&](const std::string& name, uint64_t number) {
    out << "start " << name << " " << number << "\n";
  });
  for (const auto& [address, word] : walk.memory.words())
    out << "word " << address << " " << word << "\n";
  for (const auto& [address, name] : walk.methods)
    out << "method " << address << " " << name << "\n";
  out << std::dec;
  for (const RecordedFrame& f : walk.frames)
    out << "frame " << f.bci << " " << f.level << " " << f.type << " " << f.method << "\n";
}

bool Read(std::istream& in, RecordedWalk& walk) {
  std::string text;
  if (!std::getline(in, text) || text != kTitle) return false;
  std::map<std::string, uint64_t> numbers;
  while (std::getline(in, text)) {
    std::istringstream line(text);
    std::string kind, name;
    uint64_t address = 0, word = 0;
    line >> kind;
    if (kind == "arch") {
      line >> walk.arch;
    } else if (kind == "layout" || kind == "start") {
      line >> name >> std::hex >> word;
      numbers[name] = word;
    } else if (kind == "word") {
      line >> std::hex >> address >> word;
      walk.memory.Put(address, word);
    } else if (kind == "method") {
      line >> std::hex >> address;
      walk.methods[address] = RestOf(line);
    } else if (kind == "frame") {
      RecordedFrame frame;
      line >> frame.bci >> frame.level >> frame.type;
      frame.method = RestOf(line);
      walk.frames.push_back(frame);
    } else {
      return false;
    }
    if (line.fail()) return false;
  }
  bool complete = true;
  const auto take = [&](const std::string& name, auto& number) {
    complete &= numbers.count(name) == 1;
    number = static_cast<std::remove_reference_t<decltype(number)>>(numbers[name]);
  };
  ForEachNumber(walk.layout, take);
  ForEachRegister(walk.start, take);
  walk.layout.rules = walk.arch == "aarch64" ? &kAarch64Rules : &kX86_64Rules;
  return complete && (walk.arch == "aarch64" || walk.arch == "x86_64");
}

}  // namespace walkhammer::asgst
