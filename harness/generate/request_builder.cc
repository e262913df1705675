// SPDX-License-Identifier: Apache-2.0
#include "harness/generate/request_builder.h"

#include <algorithm>
#include <iterator>

#include "harness/generate/values.h"

namespace walkhammer {
namespace {

constexpr int32_t kNearBytes = 512;  // most walks read only this much of the stack's top
constexpr int64_t kPage = 4096;

int64_t WordsEitherWay(Random& random, uint32_t most) {
  return 8 * (static_cast<int64_t>(random.Below(2 * most + 1)) - static_cast<int64_t>(most));
}

}  // namespace

const SceneWords& RequestBuilder::stack() const {
  return words_.scenes[request_.scene % Vocabulary::kScenes];
}

int32_t RequestBuilder::StackBytes() const {
  constexpr uint32_t kLeast = 8, kMost = WalkRequest::kMaxSlot / 8;  // words
  return static_cast<int32_t>(8 * std::clamp(stack().words, kLeast, kMost));
}

const FrameSample& RequestBuilder::NearFrame() {
  const auto frames = Frames();
  return frames[Chance(70) ? Below(static_cast<uint32_t>(std::min<size_t>(frames.size(), 8)))
                           : Below(static_cast<uint32_t>(frames.size()))];
}

uint8_t RequestBuilder::AnyScene() {
  const uint32_t start = Below(Vocabulary::kScenes);
  for (uint32_t i = 0; i < Vocabulary::kScenes; i++) {
    const uint32_t scene = (start + i) % Vocabulary::kScenes;
    if (words_.scenes[scene].available != 0) return static_cast<uint8_t>(scene);
  }
  return request_.scene;
}

int32_t RequestBuilder::AnySlot() {
  const uint32_t what = Below(10);
  if (what < 6 && !Frames().empty()) {
    const FrameSample& frame = NearFrame();
    if (frame.word_count > 0) {
      // The link and the return address matter in each frame.
      const uint32_t word = Chance(40) ? Below(std::min<uint32_t>(frame.word_count, 2))
                                       : Below(std::min<uint32_t>(frame.word_count, 16));
      const int64_t slot = frame.sp + int64_t{frame.words[word].offset};
      if (slot >= 0 && slot < StackBytes()) return static_cast<int32_t>(slot & ~7);
    }
  }
  const int32_t bytes = Chance(70) ? std::min(kNearBytes, StackBytes()) : StackBytes();
  return static_cast<int32_t>(8 * Below(static_cast<uint32_t>(bytes / 8)));
}

void RequestBuilder::Set(int32_t slot, const Value& value) {
  if (slot < 0 || slot >= StackBytes()) return;
  for (Edit& edit : Edits()) {
    if (edit.slot != slot) continue;
    edit.op = EditOp::kSet;
    edit.value = value;
    return;
  }
  if (request_.edit_count >= WalkRequest::kUsualEdits) Remove(0);  // the oldest
  request_.edits[request_.edit_count++] = {slot, EditOp::kSet, {}, value};
}

void RequestBuilder::Remove(int index) {
  Edit* edits = request_.edits;
  std::copy(edits + index + 1, edits + request_.edit_count, edits + index);
  edits[--request_.edit_count] = {};
}

Value& RequestBuilder::AnyUsedValue() {
  const bool custom = request_.anchor == AnchorMode::kCustom;
  if (request_.edit_count > 0 && Chance(75))
    return request_.edits[Below(request_.edit_count)].value;
  Value* const all[] = {&request_.pc,        &request_.sp,        &request_.fp,
                        &request_.anchor_sp, &request_.anchor_pc, &request_.anchor_fp};
  // HotSpot starts at the anchor if it is set, not at the registers.
  return custom ? *all[Chance(75) ? 3 + Below(3) : Below(6)] : *all[Below(3)];
}

const Place* RequestBuilder::AnyPlace(SymbolKind kind) {
  const auto places = words_.Of(kind);
  return places.empty() ? nullptr : &OneOf(places);
}

Value RequestBuilder::At(const Place& place, std::span<const uint32_t> offsets) {
  if (offsets.empty()) return {static_cast<int64_t>(Below(place.size)), place.symbol, 0};
  return {static_cast<int64_t>(OneOf(offsets)), place.symbol, 0};
}

Value RequestBuilder::ReturnAddress() {
  const uint32_t what = Below(10);
  if (what < 4 && !Frames().empty()) return NearFrame().pc;
  if (what == 4 && !words_.Landmarks().empty()) return OneOf(words_.Landmarks());
  if (what < 6) {  // of any scene
    const auto frames = words_.scenes[AnyScene() % Vocabulary::kScenes].Frames();
    if (!frames.empty()) return OneOf(frames).pc;
  }
  const SymbolKind kind = what < 8   ? SymbolKind::kNmethod
                          : what < 9 ? SymbolKind::kStub
                                     : SymbolKind::kCodelet;
  const Place* place = AnyPlace(kind);
  if (place == nullptr) return EdgeValue();
  // Deoptimisation changes the return address to this handler.
  if (place->deopt_handler != 0 && Chance(25)) return {place->deopt_handler, place->symbol, 0};
  return At(*place, words_.ReturnsOf(*place));
}

Value RequestBuilder::CodeValue() {
  const uint32_t what = Below(16);
  if (what < 6) return ReturnAddress();
  if (what < 7 && !words_.Landmarks().empty()) return OneOf(words_.Landmarks());
  const SymbolKind kind = what < 10   ? SymbolKind::kNmethod
                          : what < 13 ? SymbolKind::kStub
                                      : SymbolKind::kCodelet;
  const Place* place = AnyPlace(kind);
  if (place == nullptr || what == 15) return EdgeValue();
  const uint32_t how = Below(10);
  if (how < 2) return {0, place->symbol, 0};  // entries: call stub, return barrier, ...
  if (how < 8) return At(*place, words_.OffsetsOf(*place));
  if (how < 9) return {static_cast<int64_t>(Below(place->size)), place->symbol, 0};
  return {static_cast<int64_t>(place->size) - 8 + static_cast<int64_t>(Below(17)), place->symbol,
          0};
}

Value RequestBuilder::StackValue() {
  const uint32_t what = Below(16);
  if (what < 6 && !Frames().empty()) {
    const FrameSample& frame = NearFrame();
    const int64_t at = frame.sp;
    switch (Below(4)) {
      case 0:
        return OnStack(at);
      case 1:
        return OnStack(at + (frame.fp == FrameSample::kNoFp ? 0 : frame.fp));
      case 2:
        return OnStack(at + frame.size);
      default:
        return OnStack(at + WordsEitherWay(random_, 4));
    }
  }
  if (what < 9) return OnStack(8 * static_cast<int64_t>(Below(kNearBytes / 8)));
  if (what < 11)
    return OnStack(8 * static_cast<int64_t>(Below(static_cast<uint32_t>(StackBytes() / 8))));
  if (what < 12) return OnStack(WordsEitherWay(random_, 128));
  if (what < 13) return OnStack(static_cast<int64_t>(Below(kNearBytes)));  // aligned or not
  if (what < 14) return ValueOf(SymbolKind::kStackBase, -8 * static_cast<int64_t>(Below(64)));
  if (what < 15) {
    // The yellow, red and reserved zones are within the first pages.
    const int64_t page = kPage * static_cast<int64_t>(Below(32));
    return ValueOf(SymbolKind::kStackLimit, page + WordsEitherWay(random_, 2));
  }
  const Place* other = AnyPlace(SymbolKind::kSceneStack);
  if (other == nullptr) return OnStack(0);
  return {8 * static_cast<int64_t>(Below(kNearBytes / 8)), other->symbol, 0};
}

Value RequestBuilder::MethodValue() {
  const Place* place = AnyPlace(SymbolKind::kMethod);
  const uint32_t what = Below(10);
  if (what < 3 && !stack().Methods().empty())
    return ValueOf(SymbolKind::kSlot, OneOf(stack().Methods()));
  if (place == nullptr || what == 9) return StackValue();  // a forged Method
  if (what < 7) return {0, place->symbol, 0};
  // Memory next to the Method holds other methods, some half-built, some dead.
  if (what < 8) return {WordsEitherWay(random_, Chance(50) ? 16 : 512), place->symbol, 0};
  return ReadableValue();
}

Value RequestBuilder::EdgeValue() {
  constexpr SymbolKind kEdges[] = {
      SymbolKind::kStackBase,    SymbolKind::kStackLimit, SymbolKind::kHeap,
      SymbolKind::kHeapEnd,      SymbolKind::kMetaspace,  SymbolKind::kCodeCache,
      SymbolKind::kCodeCacheEnd, SymbolKind::kUnmapped,   SymbolKind::kNoAccess,
      SymbolKind::kZeroPage,     SymbolKind::kThread};
  const uint32_t what = Below(static_cast<uint32_t>(std::size(kEdges)) + 3);
  const int64_t distance =
      Chance(60) ? WordsEitherWay(random_, 2) : static_cast<int64_t>(Below(33)) - 16;
  if (what < std::size(kEdges)) return ValueOf(kEdges[what], distance);
  const Place* library = AnyPlace(Chance(50) ? SymbolKind::kLibrary : SymbolKind::kLibraryEnd);
  if (library == nullptr) return ValueOf(SymbolKind::kUnmapped, distance);
  return {distance, library->symbol, 0};
}

Value RequestBuilder::ReadableValue() {
  const auto words = [&](uint32_t most) { return 8 * static_cast<int64_t>(Below(most)); };
  const uint32_t what = Below(7);
  if (what < 2) return ValueOf(SymbolKind::kMetaspace, words(1 << 16));
  if (what < 3) return ValueOf(SymbolKind::kHeap, words(1 << 16));
  if (what < 4) return ValueOf(SymbolKind::kThread, words(256));
  if (what < 5) return ValueOf(SymbolKind::kZeroPage, words(512));
  const Place* place = AnyPlace(Chance(50) ? SymbolKind::kLibrary : SymbolKind::kMethod);
  if (place == nullptr) return ValueOf(SymbolKind::kZeroPage, 0);
  return {words(place->size / 8), place->symbol, 0};
}

int64_t RequestBuilder::Distance() {
  const uint32_t what = Below(8);
  int64_t distance = 0;
  if (what < 3) distance = 8 * (1 + static_cast<int64_t>(Below(8)));
  if (what == 3) distance = 1 + static_cast<int64_t>(Below(4));
  if (what >= 4 && what < 7) distance = 8 * (1 + static_cast<int64_t>(Below(256)));
  if (what == 7) distance = 1 + static_cast<int64_t>(Below(8192));
  return Chance(50) ? distance : -distance;
}

Value RequestBuilder::LiteralValue() {
  const uint32_t what = Below(8);
  if (what < 2) return Number(0);
  if (what < 3) return Number(static_cast<int64_t>(Below(64)));
  if (what < 4) return Number(-1 - static_cast<int64_t>(Below(64)));
  if (what < 5) return Number(8 * static_cast<int64_t>(Below(4096)));
  if (what < 6) {
    // Up to 8 bytes from either end of the non-canonical range: 2^47 and -2^47.
    const int64_t end = Chance(50) ? int64_t{1} << 47 : -(int64_t{1} << 47);
    return Number(end + WordsEitherWay(random_, 1));
  }
  if (what < 7) return Number(static_cast<int64_t>(1ULL << Below(64)));
  return Number(static_cast<int64_t>(random_.Next()));
}

Value RequestBuilder::AnyValue() {
  const uint32_t what = Below(16);
  if (what < 5) return CodeValue();
  if (what < 10) return StackValue();
  if (what < 11) return MethodValue();
  if (what < 12) return ReadableValue();
  return what < 14 ? EdgeValue() : LiteralValue();
}

Value RequestBuilder::ValueFor(int32_t slot) {
  if (Chance(12)) return AnyValue();
  for (const FrameSample& frame : Frames()) {
    if (slot < static_cast<int64_t>(frame.sp) || slot >= int64_t{frame.sp} + frame.size) continue;
    const int64_t offset = slot - int64_t{frame.sp};
    const int words = std::min<int>(frame.word_count, FrameSample::kMaxWords);
    for (int i = 0; i < words; i++) {
      if (frame.words[i].offset != offset) continue;
      if (i == 0) return CodeValue();
      if (i == 1 || frame.shape != SampleShape::kInterpreted) return StackValue();
      return i == 4 ? MethodValue() : Chance(60) ? StackValue() : AnyValue();
    }
    break;
  }
  return AnyValue();
}

Triple RequestBuilder::TripleOf(const FrameSample& frame) {
  const int64_t sp = frame.sp;
  const Value fp = frame.fp == FrameSample::kNoFp ? Number(0) : OnStack(sp + frame.fp);
  return {frame.pc, OnStack(sp), fp};
}

Triple RequestBuilder::AnyTriple() {
  const uint32_t what = Below(10);
  if (what < 7 && !Frames().empty()) {
    Triple triple = TripleOf(NearFrame());
    if (what < 3) return triple;
    const uint32_t which = Below(3);
    if (which == 0) triple.pc = Chance(80) ? CodeValue() : AnyValue();
    if (which == 1) triple.sp = Chance(60) ? StackValue() : AnyValue();
    if (which == 2) triple.fp = Chance(60) ? StackValue() : AnyValue();
    return triple;
  }
  // HotSpot reads a missing pc from below sp: pc = [sp - 8].
  if (what == 7) return {Number(0), Chance(50) ? StackValue() : AnyValue(), StackValue()};
  return {CodeValue(), Chance(80) ? StackValue() : AnyValue(),
          Chance(80) ? StackValue() : AnyValue()};
}

}  // namespace walkhammer
