// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/sample_request.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/elf/modules.h"
#include "harness/ipc/line_state.h"
#include "harness/request/scene_table.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

constexpr uint64_t kFirstAddress = 1 << 16;      // words below are numbers
constexpr uint64_t kSurelyAddress = 1ULL << 32;  // unmapped words below are numbers, too
constexpr uint64_t kThreadBytes = 4096;          // more than a JavaThread has
constexpr uint64_t kMethodBytes = 96;            // near the size of a Method
// Pointer authentication puts a signature into bits 48 to 54 of an address; bit 55 is set in the
// kernel's addresses.
constexpr int kAddressBits = 48, kEndOfSignature = 55;
constexpr uint64_t kMetaspaceBlock = 4 << 20;  // size and alignment of blocks of metaspace
constexpr uint64_t kMetaspaceMask = 0xffff;    // at least so much of a block is committed
constexpr uint64_t kRoomMask = 0x7ffff;        // half of the size of zero-page and no-access
constexpr int kMostNested = 4096;              // pieces of code inside of one other piece

struct Range {
  uint64_t begin, end;
  uint32_t name;  // index into names_
  bool operator<(const Range& other) const { return begin < other.begin; }
};

class Namer {
 public:
  Namer(const Sample& sample, uint64_t origin, const StressState& state, SymbolTable& symbols)
      : sample_(sample), origin_(origin), state_(state), symbols_(symbols) {
    ReadCode();
    ReadMethods();
  }

  Value NameOf(uint64_t word) {
    constexpr uint64_t kAddress = (1ULL << kAddressBits) - 1;
    if (word <= kAddress || word >> kEndOfSignature != 0) return NameUnsigned(word);
    Value code = NameUnsigned(word & kAddress);
    if (!IsCode(code)) return Number(word);
    code.is_signed = 1;
    return code;
  }

 private:
  Value NameUnsigned(uint64_t word) {
    if (word < kFirstAddress || word >= end_of_addresses_) return Number(word);
    if (word >= sample_.stack_limit && word < sample_.stack_base) return OnStack(word);
    for (const std::vector<Range>* code : {&live_, &gone_})
      if (const Range* range = Find(*code, word)) return At(*range, word);
    if (sample_.thread != 0 && word - sample_.thread < kThreadBytes)
      return Of(SymbolKind::kThread, word - sample_.thread);
    const uint32_t modules = std::min<uint32_t>(state_.module_count.load(), kMaxModules);
    for (uint32_t i = 0; i < modules; i++)
      if (word >= state_.modules[i].start && word < state_.modules[i].end)
        return InModule(state_.modules[i], word);
    if (const auto method = NameMethod(word); method.symbol != 0) return method;
    if (!live_.empty() && word >= live_.front().begin && word < code_end_)
      return Of(SymbolKind::kCodeCache, word - live_.front().begin);  // code without a name
    return InMemory(word);
  }

  bool IsCode(const Value& value) const {
    const SymbolKind kind = symbols_.at(value.symbol).kind;
    return kind == SymbolKind::kNmethod || kind == SymbolKind::kStub ||
           kind == SymbolKind::kCodelet || kind == SymbolKind::kCodeCache ||
           kind == SymbolKind::kLibrary;
  }

  static Value Number(uint64_t word) { return {static_cast<int64_t>(word), 0, 0}; }
  static Value Of(SymbolKind kind, uint64_t addend) {
    return {static_cast<int64_t>(addend), SymbolTable::IdOf(kind), 0};
  }
  Value At(const Range& range, uint64_t word) {
    const auto& [kind, name] = names_[range.name];
    return {static_cast<int64_t>(word - range.begin), symbols_.Intern(kind, name), 0};
  }

  // The innermost range that holds `word`, because stubs are inside of a blob with a name; or null.
  static const Range* Find(const std::vector<Range>& ranges, uint64_t word) {
    auto after = std::upper_bound(ranges.begin(), ranges.end(), Range{word, 0, 0});
    for (int i = 0; i < kMostNested && after != ranges.begin(); i++)
      if (word < (--after)->end) return &*after;
    return nullptr;
  }

  std::string_view NameAt(uint32_t offset) const {
    if (offset >= StressState::kNamesBytes) return "";
    const char* name = state_.names + offset;
    return {name, strnlen(name, StressState::kNamesBytes - offset)};
  }

  // Numbers repeated names of stubs and codelets by address, as AddressMap does. Counts only code
  // that still exists, because another process has that code, too; only stubs that are made on
  // demand (adapters) may get other numbers there.
  void ReadCode() {
    struct Found {
      uint64_t begin, end;
      SymbolKind kind;
      std::string name;
      bool gone;
    };
    std::vector<Found> all;
    const uint32_t count = std::min(state_.code_count.load(), StressState::kMaxCode);
    for (uint32_t i = 0; i < count; i++) {
      const CodeEntry& entry = state_.code[i];
      const uint64_t begin = entry.begin.load(std::memory_order_acquire);
      const auto kind = static_cast<SymbolKind>(entry.kind);
      if (begin == 0 || entry.end <= begin || kind < SymbolKind::kNmethod ||
          kind > SymbolKind::kCodelet)
        continue;
      all.push_back({begin, entry.end, kind, CleanName(NameAt(entry.name)), entry.gone != 0});
    }
    std::sort(all.begin(), all.end(),
              [](const Found& a, const Found& b) { return a.begin < b.begin; });
    std::map<std::pair<SymbolKind, std::string>, int> ordinals;
    for (const Found& found : all) {
      std::string name = found.name;
      if (found.kind != SymbolKind::kNmethod && !found.gone)
        if (const int ordinal = ordinals[{found.kind, name}]++; ordinal > 0)
          name += "#" + std::to_string(ordinal);
      if (!found.gone) code_end_ = std::max(code_end_, found.end);
      // A name is interned only if a word needs it: the symbol table has no room for all names.
      names_.emplace_back(found.kind, std::move(name));
      (found.gone ? gone_ : live_)
          .push_back({found.begin, found.end, static_cast<uint32_t>(names_.size() - 1)});
    }
  }

  // Places by address. Arrays: a JVM has 100,000 methods, and each finding makes a Namer.
  using Places = std::vector<std::pair<uint64_t, const MethodPlace*>>;

  static bool IsBelow(const Places::value_type& place, uint64_t word) { return place.first < word; }

  // Sorts by address. The first of several places with one address stays.
  static void Sort(Places& places) {
    using Entry = Places::value_type;
    std::stable_sort(places.begin(), places.end(),
                     [](const Entry& a, const Entry& b) { return a.first < b.first; });
    places.erase(std::unique(places.begin(), places.end(),
                             [](const Entry& a, const Entry& b) { return a.first == b.first; }),
                 places.end());
  }

  // The last place at or below `word`, or null.
  static const MethodPlace* Before(const Places& places, uint64_t word) {
    auto after = std::lower_bound(places.begin(), places.end(), word + 1, IsBelow);
    return after == places.begin() ? nullptr : std::prev(after)->second;
  }

  // Newest first: if two methods had the same address, the newer one counts.
  void ReadMethods() {
    const uint32_t count = state_.method_count.load();
    const uint32_t kept = std::min(count, StressState::kMaxMethods);
    methods_.reserve(kept);
    codes_.reserve(kept);
    for (uint32_t i = 1; i <= kept; i++) {
      const MethodPlace& place = state_.methods[(count - i) % StressState::kMaxMethods];
      const uint64_t method = place.method.load(std::memory_order_acquire);
      if (method == 0) continue;
      methods_.emplace_back(method, &place);
      if (place.code_size > 0) codes_.emplace_back(place.codes, &place);
    }
    Sort(methods_);
    Sort(codes_);
  }

  Value OnStack(uint64_t word) const {
    // Words this close to the end of the stack are encoded relative to it.
    constexpr uint64_t kAtTheEnd = 64;
    const bool is_at_end = sample_.stack_base - word <= kAtTheEnd;
    if (!is_at_end && origin_ >= sample_.stack_limit && origin_ < sample_.stack_base) {
      const auto offset = static_cast<int64_t>(word - origin_) + kSampledSp;
      if (offset >= kSampledFree && offset < kSampledEnd)
        return Of(SymbolKind::kStack, static_cast<uint64_t>(offset));
    }
    if (word - sample_.stack_limit < sample_.stack_base - word)
      return Of(SymbolKind::kStackLimit, word - sample_.stack_limit);
    return Of(SymbolKind::kStackBase, word - sample_.stack_base);
  }

  Value InModule(const Module& module, uint64_t word) {
    const std::string_view path(module.path, strnlen(module.path, sizeof module.path));
    const std::string name = CleanName(path.substr(path.rfind('/') + 1));
    return {static_cast<int64_t>(word - module.start), symbols_.Intern(SymbolKind::kLibrary, name),
            0};
  }

  // A word in a Method, in bytecode or in other metadata; symbol 0 if `word` is none of them.
  Value NameMethod(uint64_t word) {
    if (const MethodPlace* place = Before(methods_, word))
      if (const uint64_t method = place->method.load(); word - method < kMethodBytes)
        return {static_cast<int64_t>(word - method),
                symbols_.Intern(SymbolKind::kMethod, NameAt(place->name)), 0};
    if (const MethodPlace* place = Before(codes_, word);
        place != nullptr && word - place->codes < place->code_size)
      return {static_cast<int64_t>(word - place->codes),
              symbols_.Intern(SymbolKind::kBytecodes, NameAt(place->name)), 0};
    const uint64_t block = word / kMetaspaceBlock * kMetaspaceBlock;
    const auto near = std::lower_bound(methods_.begin(), methods_.end(), block, IsBelow);
    if (near != methods_.end() && near->first < block + kMetaspaceBlock)
      return Of(SymbolKind::kMetaspace, word & kMetaspaceMask);
    return {};
  }

  Value InMemory(uint64_t word) const {
    const uint32_t count = std::min(state_.area_count.load(), StressState::kMaxAreas);
    for (uint32_t i = 0; i < count; i++)
      if (const Area& area = state_.areas[i]; word >= area.begin && word < area.end)
        return Of(area.readable != 0 ? SymbolKind::kZeroPage : SymbolKind::kNoAccess,
                  word & kRoomMask);
    if (word < kSurelyAddress) return Number(word);
    return Of(SymbolKind::kUnmapped, word & kRoomMask);
  }

  const Sample& sample_;
  const uint64_t origin_;  // address of the first word, which becomes stack+kSampledSp
  const StressState& state_;
  SymbolTable& symbols_;
  std::vector<std::pair<SymbolKind, std::string>> names_;
  std::vector<Range> live_, gone_;  // by begin
  uint64_t code_end_ = 0;
  // x86_64 gives programs addresses of 47 bits, aarch64 of 48. Stacks are near the end of these.
  const uint64_t end_of_addresses_ =
      1ULL << (sample_.stack_base >> (kAddressBits - 1) != 0 ? kAddressBits : kAddressBits - 1);
  Places methods_, codes_;
};

// True for what a walker follows: code, methods, the stack, and the small numbers that interpreted
// frames keep from JDK 21 on. Other words, such as objects, are seldom looked at.
bool IsFollowed(const Value& value, const SymbolTable& symbols) {
  constexpr int64_t kSmall = 4096;
  const SymbolKind kind = symbols.at(value.symbol).kind;
  if (kind == SymbolKind::kLiteral) return value.addend > -kSmall && value.addend < kSmall;
  return kind != SymbolKind::kZeroPage && kind != SymbolKind::kUnmapped;
}

// Adds an edit for each word but zeros. `first`: slot of the first word, bytes above stack+0. If
// there are more words than a request has edits: all that walkers follow first, then the others,
// each from sp up.
void AddWords(std::span<const uint64_t> words, int64_t first, Namer& namer,
              const SymbolTable& symbols, WalkRequest& request) {
  struct Word {
    int32_t slot;
    Value value;
    bool is_followed;
  };
  std::vector<Word> all;
  for (size_t i = 0; i < words.size(); i++) {
    const int64_t at = first + static_cast<int64_t>(8 * i);
    if (words[i] == 0 || at < kSampledFree || at >= kSampledEnd) continue;
    const auto slot = static_cast<int32_t>(at);
    const Value value = namer.NameOf(words[i]);
    all.push_back({slot, value, IsFollowed(value, symbols)});
  }
  if (all.size() > WalkRequest::kMaxEdits) {
    std::stable_partition(all.begin(), all.end(),
                          [](const Word& word) { return word.is_followed; });
    all.resize(WalkRequest::kMaxEdits);
    std::sort(all.begin(), all.end(), [](const Word& a, const Word& b) { return a.slot < b.slot; });
  }
  for (const Word& word : all)
    request.edits[request.edit_count++] = {word.slot, EditOp::kSet, {}, word.value};
}

}  // namespace

WalkRequest RequestOfSample(const Sample& sample, const StressState& state, SymbolTable& symbols) {
  const uint32_t words = std::min<uint32_t>(sample.words, kSampleWords);
  const uint64_t sp = sample.registers.sp;
  return RequestOfWords(sample, {{sample.stack, words}, sp}, sp, state, symbols);
}

WalkRequest RequestOfWords(const Sample& sample, const StackWords& words, uint64_t origin,
                           const StressState& state, SymbolTable& symbols) {
  Namer namer(sample, origin, state, symbols);
  WalkRequest request;
  request.walker = sample.walker < AllWalkers().size() ? sample.walker : uint8_t{0};
  request.scene = static_cast<uint8_t>(FindScene(kSampledScene).value_or(0));
  request.origin = Origin::kSample;
  request.state = sample.state;
  request.depth = std::clamp<uint16_t>(state.job.depth, 1, WalkRequest::kMaxDepth);
  request.pc = namer.NameOf(sample.registers.pc);
  request.sp = namer.NameOf(sample.registers.sp);
  request.fp = namer.NameOf(sample.registers.fp);
  if (sample.registers.lr != 0) request.lr = namer.NameOf(sample.registers.lr);
  // The anchor of the sample, not the scene's own.
  if (sample.anchor_sp != 0 || sample.anchor_pc != 0 || sample.anchor_fp != 0) {
    request.anchor = AnchorMode::kCustom;
    request.anchor_sp = namer.NameOf(sample.anchor_sp);
    request.anchor_pc = namer.NameOf(sample.anchor_pc);
    request.anchor_fp = namer.NameOf(sample.anchor_fp);
  }
  const auto first = kSampledSp + static_cast<int64_t>(words.begin - origin);
  AddWords(words.words, first, namer, symbols, request);
  return request;
}

}  // namespace walkhammer
