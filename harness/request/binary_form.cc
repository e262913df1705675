// SPDX-License-Identifier: Apache-2.0
// Layout (numbers are LEB128 varints, zz = zigzag):
//   request := version walker scene state^in_Java anchor zz(depth-128) options
//              pc sp fp lr [anchor_sp anchor_pc anchor_fp] edit_count edit*
//   value   := (kind - usual kind) * 4 + is_signed * 2 + has_addend, [length name], [zz(addend)]
//   edit    := slot/8 op value
// Readers skip the version. Usual values encode as 0 and trailing zeros are dropped, so the usual
// request is one byte.
#include "harness/request/binary_form.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr uint8_t kBinaryVersion = 1;
constexpr int kUsualDepth = WalkRequest{}.depth;
constexpr uint64_t kSlotWords = WalkRequest::kMaxSlot / 8;

// The usual kinds of a register and of any other value. A kind is encoded as its distance from the
// usual kind, modulo the number of kinds.
constexpr SymbolKind kUsualRegister = SymbolKind::kPristine;
constexpr SymbolKind kUsualOther = SymbolKind::kLiteral;

uint64_t ZigZag(int64_t number) {
  return (static_cast<uint64_t>(number) << 1) ^ static_cast<uint64_t>(number >> 63);
}
int64_t UnZigZag(uint64_t code) { return static_cast<int64_t>((code >> 1) ^ (0 - (code & 1))); }

class Writer {
 public:
  explicit Writer(const SymbolTable& symbols) : symbols_(symbols) {}

  void Byte(uint8_t byte) { bytes_.push_back(static_cast<char>(byte)); }

  void Number(uint64_t number) {
    for (; number >= 0x80; number >>= 7) Byte(static_cast<uint8_t>(number | 0x80));
    Byte(static_cast<uint8_t>(number));
  }

  void PutValue(const Value& value, SymbolKind usual) {
    const Symbol& symbol = symbols_.at(value.symbol);
    std::string_view name(symbol.name, strnlen(symbol.name, Symbol::kMaxName));
    int code =
        (static_cast<int>(symbol.kind) - static_cast<int>(usual) + kSymbolKinds) % kSymbolKinds;
    Byte(static_cast<uint8_t>(code * 4 + (value.is_signed != 0 ? 2 : 0) +
                              (value.addend != 0 ? 1 : 0)));
    if (IsNamed(symbol.kind)) {  // an empty name reads as kUnmapped
      Byte(static_cast<uint8_t>(name.size()));
      bytes_.append(name);
    }
    if (value.addend != 0) Number(ZigZag(value.addend));
  }

  // Returns the bytes without trailing zeros, as missing bytes read as zero. The version byte is
  // kept.
  std::string Finish() {
    size_t last = bytes_.find_last_not_of('\0');
    bytes_.resize(last == std::string::npos ? 1 : last + 1);
    return std::move(bytes_);
  }

 private:
  static_assert(Symbol::kMaxName <= 255);
  const SymbolTable& symbols_;
  std::string bytes_;
};

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, SymbolTable& symbols) : bytes_(bytes), symbols_(symbols) {}

  uint8_t Byte() { return next_ < bytes_.size() ? bytes_[next_++] : uint8_t{0}; }

  uint8_t ByteBelow(size_t limit) { return static_cast<uint8_t>(limit == 0 ? 0 : Byte() % limit); }

  // Reads a varint of at most ten bytes; bits beyond the 64th are lost.
  uint64_t Number() {
    uint64_t number = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      uint8_t byte = Byte();
      number |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return number;
  }

  Value GetValue(SymbolKind usual) {
    const uint8_t tag = Byte();
    auto kind = static_cast<SymbolKind>((tag / 4 + static_cast<int>(usual)) % kSymbolKinds);
    Value value;
    value.is_signed = tag / 2 % 2;
    value.symbol = IsNamed(kind) ? symbols_.Intern(kind, Name()) : SymbolTable::IdOf(kind);
    if (tag % 2 != 0) value.addend = UnZigZag(Number());
    return value;
  }

 private:
  // Reads a name. A name that runs past the end of the bytes is truncated there.
  std::string_view Name() {
    size_t length = Byte();
    length = std::min(length, bytes_.size() - next_);
    std::string_view name(reinterpret_cast<const char*>(bytes_.data()) + next_, length);
    next_ += length;
    return name;
  }

  std::span<const uint8_t> bytes_;
  SymbolTable& symbols_;
  size_t next_ = 0;
};

}  // namespace

std::string EncodeBinary(const WalkRequest& request, const SymbolTable& symbols) {
  Writer writer(symbols);
  writer.Byte(kBinaryVersion);
  writer.Byte(request.walker);
  writer.Byte(request.scene);
  writer.Byte(request.state ^ kStateInJava);
  writer.Byte(static_cast<uint8_t>(request.anchor));
  writer.Number(ZigZag(int64_t{request.depth} - kUsualDepth));
  writer.Number(request.options);
  for (const Value* value : {&request.pc, &request.sp, &request.fp, &request.lr})
    writer.PutValue(*value, kUsualRegister);
  if (request.anchor == AnchorMode::kCustom)
    for (const Value* value : {&request.anchor_sp, &request.anchor_pc, &request.anchor_fp})
      writer.PutValue(*value, kUsualOther);
  const int edits = std::min<int>(request.edit_count, WalkRequest::kMaxEdits);
  writer.Number(static_cast<uint64_t>(edits));
  for (const Edit& edit : std::span(request.edits, static_cast<size_t>(edits))) {
    writer.Number(static_cast<uint32_t>(edit.slot) / 8);
    writer.Byte(static_cast<uint8_t>(edit.op));
    writer.PutValue(edit.value, kUsualOther);
  }
  return writer.Finish();
}

WalkRequest DecodeBinary(std::span<const uint8_t> bytes, SymbolTable& symbols) {
  Reader reader(bytes, symbols);
  (void)reader.Byte();  // the version
  WalkRequest request;
  request.walker = reader.ByteBelow(AllWalkers().size());
  request.scene = reader.ByteBelow(AllScenes().size());
  request.state = reader.Byte() ^ kStateInJava;
  request.anchor =
      static_cast<AnchorMode>(reader.ByteBelow(static_cast<size_t>(AnchorMode::kCount)));
  constexpr int64_t kLeast = 1 - kUsualDepth, kMost = WalkRequest::kMaxDepth - kUsualDepth;
  int64_t depth = std::clamp(UnZigZag(reader.Number()), kLeast, kMost) + kUsualDepth;
  request.depth = static_cast<uint16_t>(depth);
  request.options = static_cast<uint32_t>(reader.Number());
  for (Value* value : {&request.pc, &request.sp, &request.fp, &request.lr})
    *value = reader.GetValue(kUsualRegister);
  if (request.anchor == AnchorMode::kCustom)
    for (Value* value : {&request.anchor_sp, &request.anchor_pc, &request.anchor_fp})
      *value = reader.GetValue(kUsualOther);
  request.edit_count = static_cast<uint16_t>(reader.Number() % (WalkRequest::kMaxEdits + 1));
  for (Edit& edit : std::span(request.edits, request.edit_count)) {
    edit = Edit{};
    edit.slot = static_cast<int32_t>(reader.Number() % kSlotWords * 8);
    edit.op = static_cast<EditOp>(reader.ByteBelow(static_cast<size_t>(EditOp::kCount)));
    edit.value = reader.GetValue(kUsualOther);
  }
  return request;
}

}  // namespace walkhammer
