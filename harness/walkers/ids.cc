// SPDX-License-Identifier: Apache-2.0
// ids: the ASGST iterator, with what the ids functions say of each frame's method and class, as
// libasgst.so implements them on a stock JDK.
#include <algorithm>
#include <cstring>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/iterated_frame.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/provider_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

// A buffer for a text, between bytes that no function may write.
class TextBuffer {
 public:
  static constexpr int kMost = 512;  // bytes

  char* Paint(int32_t size);
  // True if all bytes outside of the text's `size` bytes are as Paint left them.
  bool Intact() const;
  const char* text() const { return bytes_ + kCanary; }
  // True if the buffer holds the beginning of a text, as much as fits, and a NUL. `whole`: the text
  // or its beginning; `length`: bytes of the text.
  bool HoldsBeginningOf(const char* whole, int32_t length) const;

 private:
  static constexpr int kCanary = 16;
  static constexpr char kPaint = '\xa5';
  int32_t size_ = 0;
  char bytes_[kCanary + kMost + kCanary];
};

// Calls the ids functions with any handle and buffers of any size, and finds contradictions in
// their answers without knowing the truth. Signal-safe: all but Bind.
class IdsCalls {
 public:
  Status Bind(void* library);

  // Returns what contradicts itself in the answers, as a string literal; or null. `seed` determines
  // the sizes of the buffers.
  const char* Examine(ASGST_Method method, uint64_t seed);
  const char* Examine(ASGST_Class klass, uint64_t seed);
  // False once something was written outside of a buffer, until the next Begin.
  bool intact() const { return intact_; }
  void Begin() { intact_ = true; }

  // Writes "pkg/Class.method(Sig)Ret" of the method that was examined last, truncated to the size;
  // empty if that handle was of no method.
  void Describe(DescribedFrame& frame) const;
  ASGST_Class last_class() const { return whole_.klass; }

 private:
  const char* ExamineOnce(ASGST_Method method, uint64_t seed);
  const char* ExamineOnce(ASGST_Class klass, uint64_t seed);
  const char* ExamineLines(ASGST_Method method, uint64_t seed);
  // Returns how whole_ contradicts itself or the single answers; or null.
  const char* Whole(ASGST_Method method) const;

  decltype(&ASGST_GetMethodInfo) method_info_ = nullptr;
  decltype(&ASGST_GetMethodIdNum) method_number_ = nullptr;
  decltype(&ASGST_GetMethodLineNumberTable) lines_ = nullptr;
  decltype(&ASGST_GetMethodLineNumber) line_ = nullptr;
  decltype(&ASGST_GetClassInfo) class_info_ = nullptr;
  decltype(&ASGST_GetClassIdNum) class_number_ = nullptr;
  decltype(&ASGST_GetClass) class_of_ = nullptr;
  bool intact_ = true;
  ASGST_MethodInfo whole_{};
  TextBuffer name_, signature_, class_name_, cut_name_, cut_signature_, cut_generic_;
};

// A buffer size from bits of `seed`: -1 to 6 in half of the cases, else 0 to 127.
int32_t SizeFrom(uint64_t seed, int shift) {
  const auto bits = static_cast<int32_t>(seed >> shift & 0xff);
  return bits < 128 ? bits % 8 - 1 : bits - 128;
}

char* TextBuffer::Paint(int32_t size) {
  size_ = size;
  std::memset(bytes_, kPaint, sizeof bytes_);
  return bytes_ + kCanary;
}

bool TextBuffer::Intact() const {
  const char* const end = bytes_ + kCanary + std::max(size_, 0);
  const auto painted = [](char byte) { return byte == kPaint; };
  return std::all_of(bytes_, bytes_ + kCanary, painted) &&
         std::all_of(end, bytes_ + sizeof bytes_, painted);
}

bool TextBuffer::HoldsBeginningOf(const char* whole, int32_t length) const {
  if (size_ < 1) return true;
  const int32_t held = std::min(length, size_ - 1);
  return text()[held] == '\0' &&
         std::memcmp(text(), whole, static_cast<size_t>(std::min(held, kMost - 1))) == 0;
}

Status IdsCalls::Bind(void* library) {
  return FindIn(library, "ASGST_GetMethodInfo", method_info_, "ASGST_GetMethodIdNum",
                method_number_, "ASGST_GetMethodLineNumberTable", lines_,
                "ASGST_GetMethodLineNumber", line_, "ASGST_GetClassInfo", class_info_,
                "ASGST_GetClassIdNum", class_number_, "ASGST_GetClass", class_of_);
}

// A class may be unloaded or get its number between two calls: only a second contradiction counts.
const char* IdsCalls::Examine(ASGST_Method method, uint64_t seed) {
  const char* complaint = ExamineOnce(method, seed);
  return complaint == nullptr ? nullptr : ExamineOnce(method, seed);
}

const char* IdsCalls::Examine(ASGST_Class klass, uint64_t seed) {
  const char* complaint = ExamineOnce(klass, seed);
  return complaint == nullptr ? nullptr : ExamineOnce(klass, seed);
}

const char* IdsCalls::ExamineOnce(ASGST_Method method, uint64_t seed) {
  whole_ = {};
  whole_.method_name = name_.Paint(TextBuffer::kMost);
  whole_.signature = signature_.Paint(TextBuffer::kMost);
  whole_.method_name_length = whole_.signature_length = TextBuffer::kMost;
  method_info_(method, &whole_);

  ASGST_MethodInfo cut{};
  cut.method_name_length = SizeFrom(seed, 0);
  cut.signature_length = SizeFrom(seed, 8);
  cut.generic_signature_length = SizeFrom(seed, 16);
  cut.method_name = cut_name_.Paint(cut.method_name_length);
  cut.signature = cut_signature_.Paint(cut.signature_length);
  cut.generic_signature = cut_generic_.Paint(cut.generic_signature_length);
  method_info_(method, &cut);
  for (const TextBuffer* buffer : {&name_, &signature_, &cut_name_, &cut_signature_, &cut_generic_})
    intact_ = intact_ && buffer->Intact();

  if (const char* complaint = Whole(method); complaint != nullptr) return complaint;
  if (cut.klass != whole_.klass || cut.idnum != whole_.idnum || cut.modifiers != whole_.modifiers ||
      cut.class_idnum != whole_.class_idnum)
    return "GetMethodInfo answers otherwise with other buffers";
  if (cut.method_name_length != whole_.method_name_length ||
      cut.signature_length != whole_.signature_length ||
      cut.generic_signature_length != whole_.generic_signature_length)
    return "GetMethodInfo's lengths depend on the buffers";
  if (whole_.klass == nullptr) return nullptr;
  if (!cut_name_.HoldsBeginningOf(name_.text(), whole_.method_name_length) ||
      !cut_signature_.HoldsBeginningOf(signature_.text(), whole_.signature_length))
    return "GetMethodInfo's texts depend on the buffers";
  return ExamineLines(method, seed);
}

const char* IdsCalls::Whole(ASGST_Method method) const {
  const bool known = whole_.klass != nullptr;
  if (class_of_(method) != whole_.klass) return "GetClass and GetMethodInfo tell of other classes";
  if (method_number_(method) != whole_.idnum)
    return "GetMethodIdNum and GetMethodInfo tell of other numbers";
  if (known && class_number_(whole_.klass) != whole_.class_idnum)
    return "GetClassIdNum and GetMethodInfo tell of other numbers";
  if (known != (whole_.method_name_length > 0) || known != (whole_.signature_length > 0))
    return "GetMethodInfo tells of a class without a method, or of a method without a class";
  if (!known && (whole_.idnum != -1 || whole_.class_idnum != -1 || whole_.modifiers != -1 ||
                 whole_.method_name_length != 0 || whole_.signature_length != 0))
    return "GetMethodInfo tells something of no method";
  return nullptr;
}

const char* IdsCalls::ExamineLines(ASGST_Method method, uint64_t seed) {
  constexpr int kMost = 16;
  constexpr ASGST_MethodLineNumberEntry kPainted = {-0x5a5a, -0x5a5a};
  ASGST_MethodLineNumberEntry entries[kMost + 1];
  std::fill(entries, entries + kMost + 1, kPainted);
  const int size = static_cast<int>(seed >> 24) % (kMost + 1);  // negative ones, too
  const int count = lines_(method, entries, size);
  if (count < 0 || count > std::max(size, 0))
    return "GetMethodLineNumberTable answers a number that cannot be";
  for (int i = count; i <= kMost; i++)
    intact_ = intact_ && entries[i].start_bci == kPainted.start_bci &&
              entries[i].line_number == kPainted.line_number;
  if (count > 0 && line_(method, entries[0].start_bci) != entries[0].line_number)
    return "GetMethodLineNumber and GetMethodLineNumberTable tell of other lines";
  return nullptr;
}

const char* IdsCalls::ExamineOnce(ASGST_Class klass, uint64_t seed) {
  ASGST_ClassInfo whole{}, cut{};
  whole.class_name = class_name_.Paint(TextBuffer::kMost);
  whole.class_name_length = TextBuffer::kMost;
  class_info_(klass, &whole);
  cut.class_name_length = SizeFrom(seed, 16);
  cut.generic_class_name_length = SizeFrom(seed, 8);
  cut.class_name = cut_name_.Paint(cut.class_name_length);
  cut.generic_class_name = cut_generic_.Paint(cut.generic_class_name_length);
  class_info_(klass, &cut);
  intact_ = intact_ && class_name_.Intact() && cut_name_.Intact() && cut_generic_.Intact();
  const bool named = whole.class_name_length > 0;
  if (!named) class_name_.Paint(0);
  if (class_number_(klass) != whole.idnum)
    return "GetClassIdNum and GetClassInfo tell of other numbers";
  if (whole.idnum != -1 && !named) return "GetClassInfo tells of a class without a name";
  if (cut.idnum != whole.idnum || cut.modifiers != whole.modifiers ||
      cut.class_name_length != whole.class_name_length ||
      cut.generic_class_name_length != whole.generic_class_name_length)
    return "GetClassInfo answers otherwise with other buffers";
  if (named && !cut_name_.HoldsBeginningOf(class_name_.text(), whole.class_name_length))
    return "GetClassInfo's texts depend on the buffers";
  return nullptr;
}

void IdsCalls::Describe(DescribedFrame& frame) const {
  size_t at = 0;
  const auto append = [&](const char* text, int32_t length) {
    const size_t room = sizeof frame.text - 1 - at;
    const size_t some =
        std::min({static_cast<size_t>(length), room, static_cast<size_t>(TextBuffer::kMost - 1)});
    std::memcpy(frame.text + at, text, some);
    at += some;
  };
  ASGST_ClassInfo info{};
  char name[sizeof frame.text];
  info.class_name = name;
  info.class_name_length = sizeof name;
  class_info_(whole_.klass, &info);
  if (whole_.klass != nullptr && info.class_name_length > 0) {
    append(name, std::min<int32_t>(info.class_name_length, sizeof name - 1));
    append(".", 1);
    append(name_.text(), whole_.method_name_length);
    append(signature_.text(), whole_.signature_length);
  }
  frame.text[at] = '\0';
}

class IdsWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
    RETURN_IF_ERROR(calls_.Bind(library));
    return FindIn(library, "ASGST_RunWithIterator", run_, "ASGST_NextFrame", next_,
                  "ASGST_MethodToJMethodID", id_of_);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = described_count_ = 0;
    cut_ = false;
    complaint_ = nullptr;
    calls_.Begin();
    buffer_.Paint(depth_);
    const Registers at = ReadContext(*input.context);
    seed_ = (at.pc ^ at.sp << 20 ^ at.fp << 40 ^ input.depth) * kGoldenRatio;
    const auto store = [](ASGST_Iterator* iterator, void* self) {
      static_cast<IdsWalker*>(self)->Store(iterator);
    };
    const int result = run_(input.context, static_cast<int32_t>(input.options), store, this);
    ExamineOthers(at);
    trace.ended_on_request = result > 0 && cut_;
    trace.num_frames = result > 0 ? count_ : result;
    trace.frames = buffer_.frames();
    trace.described = described_;
    trace.described_count = described_count_;
    trace.complaint = complaint_;
  }

  bool BufferIntact(const WalkInput& input) const override {
    return buffer_.Intact(input.depth) && calls_.intact();
  }

 private:
  void Store(ASGST_Iterator* iterator) {
    Frame* frames = buffer_.frames();
    int result = 1;
    ASGST_Frame frame{};
    while (count_ < depth_ && (result = next_(iterator, &frame)) == 1) {
      if (!BelongsIntoAnswer(frame)) continue;
      if (count_ < kMostDescribed) Describe(frame.method);
      frames[count_++] = AnswerOf(frame, id_of_(frame.method));
    }
    cut_ = EndedByOption(result, frame);
    if (count_ == 0 && result < 0) count_ = result;
  }

  void Describe(ASGST_Method method) {
    Examine(method);
    calls_.Describe(described_[described_count_++]);
    Examine(calls_.last_class());
    // Remember some methods, to ask for them again when they may be gone.
    const uint64_t random = NextRandom();
    if (random % 64 == 0) old_[random / 64 % kOld] = method;
  }

  // Examines the registers' values, addresses near a remembered method, and all remembered methods.
  void ExamineOthers(const Registers& at) {
    const auto last = reinterpret_cast<uint64_t>(old_[seed_ % kOld]);
    const uint64_t near = last + NextRandom() % 512;
    constexpr uint64_t kAligned = ~uint64_t{7};
    for (const uint64_t word :
         {at.pc, at.sp, at.fp, at.lr, at.sp & kAligned, near, near & kAligned}) {
      Examine(reinterpret_cast<ASGST_Method>(word));
      Examine(reinterpret_cast<ASGST_Class>(word));
    }
    for (const ASGST_Method method : old_) {
      Examine(method);
      Examine(calls_.last_class());
    }
  }

  template <typename Handle>
  void Examine(Handle handle) {
    const char* complaint = calls_.Examine(handle, NextRandom());
    if (complaint_ == nullptr) complaint_ = complaint;
  }

  uint64_t NextRandom() {
    seed_ ^= seed_ << 13;
    seed_ ^= seed_ >> 7;
    return seed_ ^= seed_ << 17;
  }

  static constexpr int kMostDescribed = 64;  // frames, the newest ones
  static constexpr int kOld = 4;
  IdsCalls calls_;
  decltype(&ASGST_RunWithIterator) run_ = nullptr;
  decltype(&ASGST_NextFrame) next_ = nullptr;
  decltype(&ASGST_MethodToJMethodID) id_of_ = nullptr;
  int depth_ = 0, count_ = 0, described_count_ = 0;
  bool cut_ = false;
  uint64_t seed_ = 0;
  const char* complaint_ = nullptr;
  ASGST_Method old_[kOld]{};
  DescribedFrame described_[kMostDescribed];
  CanaryBuffer<Frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeIds() { return std::make_unique<IdsWalker>(); }

}  // namespace walkhammer
