// SPDX-License-Identifier: Apache-2.0
#include "harness/scenes/make_vocabulary.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "harness/elf/disassembler.h"
#include "harness/guard/arch.h"
#include "harness/request/scene_table.h"
#include "harness/scenes/physical_frames.h"

namespace walkhammer {
namespace {

// Words below fp in the fixed part of an interpreted frame. The last one holds the initial sp,
// right below the bytecode pointer.
constexpr uint32_t kInterpreterWords = 1 - kOwnSlots.interpreter_bcp;
constexpr uint32_t kInterpreterMethod = 3;
constexpr uint32_t kInterpreterUnused = -kOwnSlots.interpreter_unused;

// Most offsets of one Place: those that calls return to, and others at each end of the code.
constexpr size_t kMostReturns = 12;
constexpr size_t kAtEachEnd = 8;
// Of longer code, the instructions of so many bytes at both ends are looked at: decoding 1.5 MB of
// stubs takes a tenth of a child's start.
constexpr uint64_t kEndBytes = 4096;
constexpr int64_t kSmall = 1 << 16;  // a word of less magnitude is a number, not an address

constexpr SymbolKind kCode[] = {SymbolKind::kNmethod, SymbolKind::kStub, SymbolKind::kCodelet};

// At most `most` of `all`: the first `kept`, then evenly spread ones.
template <typename T>
std::vector<T> Spread(const std::vector<T>& all, size_t most, size_t kept) {
  if (all.size() <= most) return all;
  std::vector<T> some(all.begin(), all.begin() + static_cast<int64_t>(kept));
  for (size_t i = 0; i < most - kept; i++)
    some.push_back(all[kept + i * (all.size() - kept) / (most - kept)]);
  return some;
}

class Maker {
 public:
  Maker(AddressMap& address_map, const Jvm& jvm, const SymbolTable& symbols, Vocabulary& out)
      : address_map_(address_map), jvm_(jvm), symbols_(symbols), out_(out) {
    for (const CodeBlob& blob : jvm.code_cache().Blobs()) blobs_[blob.begin] = blob;
  }

  void AddPlaces() {
    for (int kind = 0; kind < kSymbolKinds; kind++) {
      out_.first[kind] = out_.place_count;
      for (const PoolEntry& entry : address_map_.Pool(static_cast<SymbolKind>(kind))) {
        if (out_.place_count == Vocabulary::kMaxPlaces) break;
        out_.place_of[entry.symbol] = static_cast<uint16_t>(out_.place_count + 1);
        out_.places[out_.place_count++] = {entry.symbol, entry.size, 0, 0, 0, 0, 0, 0};
      }
      out_.count[kind] = out_.place_count - out_.first[kind];
    }
    for (SymbolKind kind : kCode)
      for (uint32_t i = 0; i < out_.count[static_cast<int>(kind)]; i++)
        DescribeCode(out_.places[out_.first[static_cast<int>(kind)] + i]);
  }

  void AddLandmarks() {
    constexpr const char* kStubs[] = {"call_stub",        "catch_exception", "cont_",
                                      "Deoptimization",   "Exception",       "forward_exception",
                                      "handle_exception", "Uncommon",        "upcall"};
    auto add = [&](const Value& value) {
      const auto known = out_.Landmarks();
      if (out_.landmark_count < Vocabulary::kMaxLandmarks &&
          std::find(known.begin(), known.end(), value) == known.end())
        out_.landmarks[out_.landmark_count++] = value;
    };
    for (const Place& place : out_.Of(SymbolKind::kStub)) {
      const std::string_view name = symbols_.at(place.symbol).name;
      for (const char* stub : kStubs)
        if (name.starts_with(stub)) add({0, place.symbol, 0});
    }
    for (const SceneWords& scene : out_.scenes)
      for (const FrameSample& frame : scene.Frames())
        if (frame.shape == SampleShape::kEntry || frame.shape == SampleShape::kStub) add(frame.pc);
    for (const Place& place : out_.Of(SymbolKind::kNmethod))
      if (place.deopt_handler != 0 && out_.landmark_count < Vocabulary::kMaxLandmarks / 2)
        add({place.deopt_handler, place.symbol, 0});
  }

  void AddScene(const ParkedScene& scene) {
    SceneWords& words = out_.scenes[scene.index];
    words.available = 1;
    const std::vector<PhysicalFrame> frames = FindPhysicalFrames(scene, jvm_);
    AddSlots(scene, frames, words);
    for (const PhysicalFrame& frame : frames) {
      if (words.frame_count == SceneWords::kMaxFrames) break;
      AddFrame(scene, frame, words.frames[words.frame_count++]);
    }
    AddNearPcs(scene.pristine.pc, words);
  }

 private:
  void DescribeCode(Place& place) {
    const uint64_t begin = address_map_.AddressOf(place.symbol);
    const uint64_t end = address_map_.EndOf(place.symbol);
    std::set<uint32_t> others;
    std::vector<uint32_t> returns;
    const std::vector<InstructionStart> starts = StartsAtEnds(begin, end, kEndBytes);
    for (size_t i = 0; i < starts.size(); i++) {
      if (starts[i].after_call) returns.push_back(starts[i].offset);
      if (i < kAtEachEnd || i + kAtEachEnd >= starts.size()) others.insert(starts[i].offset);
    }
    returns = Spread(returns, kMostReturns, 1);
    if (out_.offset_count + returns.size() + others.size() > Vocabulary::kMaxOffsets) return;
    place.first_offset = out_.offset_count;
    place.return_count = static_cast<uint16_t>(returns.size());
    for (uint32_t offset : returns) {
      others.erase(offset);
      out_.offsets[out_.offset_count++] = offset;
    }
    for (uint32_t offset : others) out_.offsets[out_.offset_count++] = offset;
    place.offset_count = static_cast<uint16_t>(out_.offset_count - place.first_offset);

    // Many stubs share one blob, which then has no frame of its own.
    auto after = blobs_.upper_bound(begin);
    if (after == blobs_.begin()) return;
    const CodeBlob& blob = std::prev(after)->second;
    if (begin >= blob.end) return;
    place.frame_words = static_cast<uint32_t>(std::max(blob.frame_words, 0));
    if (!blob.is_nmethod) return;
    place.original_pc = static_cast<uint32_t>(std::max(blob.original_pc, 0));
    if (blob.deopt_handler > begin && blob.deopt_handler < end)
      place.deopt_handler = static_cast<uint32_t>(blob.deopt_handler - begin);
  }

  static void AddSlots(const ParkedScene& scene, const std::vector<PhysicalFrame>& frames,
                       SceneWords& words) {
    auto offset = [&](uint64_t at) { return static_cast<uint32_t>(at - scene.stack_low); };
    std::vector<uint32_t> code, pointers, methods;
    for (const PhysicalFrame& frame : frames) {
      code.push_back(offset(frame.return_slot));
      pointers.push_back(offset(frame.link_slot));
      if (frame.kind != PhysicalKind::kInterpreted) continue;
      // Word 1: sender_sp, 2: last_sp, 3: the Method*; then further words down to the initial sp.
      for (uint32_t i = 1; i <= kInterpreterWords; i++) {
        const uint64_t slot = frame.fp - 8 * i;
        if (slot < scene.stack_low) break;
        (i == kInterpreterMethod ? methods : pointers).push_back(offset(slot));
      }
    }
    // Ends after the oldest Java frame and the words that its entry saved: the same in every
    // process.
    const uint64_t end = frames.empty() ? scene.stack_low + 512 : frames.back().end + 64;
    words.words = static_cast<uint32_t>((std::min(end, scene.edit_high) - scene.stack_low) / 8);
    // The random engine prefers the first 16, so Spread keeps these.
    auto store = [](const std::vector<uint32_t>& all, uint32_t* to, uint32_t& count) {
      const std::vector<uint32_t> some = Spread(all, SceneWords::kMaxSlots, 16);
      std::copy(some.begin(), some.end(), to);
      count = static_cast<uint32_t>(some.size());
    };
    store(code, words.code, words.code_count);
    store(pointers, words.pointers, words.pointer_count);
    store(methods, words.methods, words.method_count);
  }

  Value NameOf(const ParkedScene& scene, uint64_t slot, uint64_t frame_sp) {
    const uint64_t word = *reinterpret_cast<const uint64_t*>(slot);
    if (word >= scene.stack_limit && word < scene.stack_high)
      return {static_cast<int64_t>(word - frame_sp), SymbolTable::IdOf(SymbolKind::kStack), 0};
    const auto number = static_cast<int64_t>(word);
    if (number > -kSmall && number < kSmall)
      return {number, SymbolTable::IdOf(SymbolKind::kLiteral), 0};
    if (std::optional<Value> named = address_map_.ValueOf(word)) return *named;
    return {static_cast<int64_t>(slot - scene.stack_low), SymbolTable::IdOf(SymbolKind::kSlot), 0};
  }

  void AddFrame(const ParkedScene& scene, const PhysicalFrame& frame, FrameSample& sample) {
    sample = {};
    sample.shape = static_cast<SampleShape>(frame.kind);
    sample.sp = static_cast<uint32_t>(frame.sp - scene.stack_low);
    sample.size = static_cast<uint32_t>(frame.end - frame.sp);
    sample.fp = frame.fp >= scene.stack_low && frame.fp < scene.stack_high
                    ? static_cast<int32_t>(frame.fp - frame.sp)
                    : FrameSample::kNoFp;
    sample.pc = address_map_.ValueOf(frame.pc).value_or(Value{});
    auto add = [&](uint64_t slot) {
      if (slot < scene.stack_low || slot + 8 > scene.edit_high) return;
      if (sample.word_count == FrameSample::kMaxWords) return;
      sample.words[sample.word_count++] = {static_cast<int32_t>(slot - frame.sp),
                                           NameOf(scene, slot, frame.sp)};
    };
    add(frame.return_slot);
    add(frame.link_slot);
    switch (frame.kind) {
      case PhysicalKind::kInterpreted:
        for (uint32_t i = 1; i <= kInterpreterWords; i++)
          if (i != kInterpreterUnused) add(frame.fp - 8 * i);
        break;
      case PhysicalKind::kEntry: {
        add(frame.wrapper_slot);
        if (frame.anchor == 0) break;
        const JvmLayout& layout = jvm_.layout();
        for (int field : {layout.last_sp, layout.last_pc, layout.last_fp})
          add(frame.anchor + static_cast<uint64_t>(field));
        break;
      }
      default:
        AddOriginalPc(frame, add);
        break;
    }
  }

  // Adds the slot of the original pc if the activation is deoptimised: its pc is the handler's.
  template <typename Add>
  void AddOriginalPc(const PhysicalFrame& frame, Add add) {
    auto after = blobs_.upper_bound(frame.pc);
    if (after == blobs_.begin()) return;
    const CodeBlob& blob = std::prev(after)->second;
    if (blob.is_nmethod && frame.pc == blob.deopt_handler && blob.original_pc > 0)
      add(frame.sp + static_cast<uint64_t>(blob.original_pc));
  }

  void AddNearPcs(uint64_t pc, SceneWords& words) {
    const std::optional<Value> named = address_map_.ValueOf(pc);
    if (!named || symbols_.at(named->symbol).kind == SymbolKind::kMethod) return;
    const std::vector<InstructionStart> starts =
        InstructionStarts(address_map_.AddressOf(named->symbol), address_map_.EndOf(named->symbol));
    auto at = std::find_if(starts.begin(), starts.end(), [&](const InstructionStart& start) {
      return start.offset >= static_cast<uint64_t>(named->addend);
    });
    const auto before = std::min<int64_t>(at - starts.begin(), SceneWords::kMaxNearPcs / 2);
    for (auto near = at - before; near != starts.end(); near++) {
      if (words.near_pc_count == SceneWords::kMaxNearPcs) break;
      if (near->offset == named->addend) continue;
      words.near_pcs[words.near_pc_count++] = static_cast<int32_t>(near->offset - named->addend);
    }
  }

  AddressMap& address_map_;
  const Jvm& jvm_;
  const SymbolTable& symbols_;
  Vocabulary& out_;
  std::map<uint64_t, CodeBlob> blobs_;  // by begin
};

}  // namespace

void MakeVocabulary(AddressMap& address_map, SceneStage& stage, const Jvm& jvm,
                    SymbolTable& symbols, Vocabulary& out) {
  std::memset(static_cast<void*>(&out), 0, sizeof out);
  Maker maker(address_map, jvm, symbols, out);
  maker.AddPlaces();
  for (const ParkedScene* scene : stage.All()) maker.AddScene(*scene);
  maker.AddLandmarks();
}

}  // namespace walkhammer
