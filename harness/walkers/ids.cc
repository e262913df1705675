// SPDX-License-Identifier: Apache-2.0
// ids: the ASGST iterator, with what the ids functions say of each frame's method and class, as
// libasgst.so implements them on a stock JDK; with @jdk, as a JDK exports them.
#include <algorithm>
#include <cstring>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/ids_exam.h"
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
  // `any_word`: any word may be examined, and unknown numbers are -1, as libasgst has it. Otherwise
  // the documents say nothing of words that belong to no method, of buffers without room, and of
  // the length of a text that is not known.
  void Use(const IdsApi& api, bool any_word) {
    api_ = api;
    any_word_ = any_word;
  }

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

  IdsApi api_;
  bool any_word_ = true;
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
  api_.method_info(method, &whole_);

  ASGST_MethodInfo cut{};
  const int32_t least = any_word_ ? -1 : 1;
  cut.method_name_length = std::max(SizeFrom(seed, 0), least);
  cut.signature_length = std::max(SizeFrom(seed, 8), least);
  cut.generic_signature_length = std::max(SizeFrom(seed, 16), least);
  cut.method_name = cut_name_.Paint(cut.method_name_length);
  cut.signature = cut_signature_.Paint(cut.signature_length);
  cut.generic_signature = cut_generic_.Paint(cut.generic_signature_length);
  api_.method_info(method, &cut);
  for (const TextBuffer* buffer : {&name_, &signature_, &cut_name_, &cut_signature_, &cut_generic_})
    intact_ = intact_ && buffer->Intact();

  if (const char* complaint = Whole(method); complaint != nullptr) return complaint;
  if (cut.klass != whole_.klass || cut.idnum != whole_.idnum || cut.modifiers != whole_.modifiers ||
      cut.class_idnum != whole_.class_idnum)
    return "GetMethodInfo's answer depends on the buffers";
  if (cut.method_name_length != whole_.method_name_length ||
      cut.signature_length != whole_.signature_length ||
      (any_word_ && cut.generic_signature_length != whole_.generic_signature_length))
    return "GetMethodInfo's lengths depend on the buffers";
  if (whole_.klass == nullptr) return nullptr;
  if (!cut_name_.HoldsBeginningOf(name_.text(), whole_.method_name_length) ||
      !cut_signature_.HoldsBeginningOf(signature_.text(), whole_.signature_length))
    return "GetMethodInfo's texts depend on the buffers";
  return ExamineLines(method, seed);
}

const char* IdsCalls::Whole(ASGST_Method method) const {
  const bool known = whole_.klass != nullptr;
  if (api_.class_of(method) != whole_.klass)
    return "GetClass and GetMethodInfo return different classes";
  if (api_.method_number(method) != whole_.idnum)
    return "GetMethodIdNum and GetMethodInfo return different numbers";
  if (known && api_.class_number(whole_.klass) != whole_.class_idnum)
    return "GetClassIdNum and GetMethodInfo return different numbers";
  if (known != (whole_.method_name_length > 0) || known != (whole_.signature_length > 0))
    return "GetMethodInfo returns a class without a method, or a method without a class";
  if (!known && (whole_.idnum != -1 || whole_.class_idnum != -1 || whole_.modifiers != -1 ||
                 whole_.method_name_length != 0 || whole_.signature_length != 0))
    return "GetMethodInfo returns values for something that is not a method";
  return nullptr;
}

const char* IdsCalls::ExamineLines(ASGST_Method method, uint64_t seed) {
  constexpr int kMost = 16;
  constexpr ASGST_MethodLineNumberEntry kPainted = {-0x5a5a, -0x5a5a};
  ASGST_MethodLineNumberEntry entries[kMost + 1];
  std::fill(entries, entries + kMost + 1, kPainted);
  int size = static_cast<int>(seed >> 24) % (kMost + 1);  // negative ones, too
  if (!any_word_) size = std::max(size, 0);
  const int count = api_.lines(method, entries, size);
  if (count < 0 || count > std::max(size, 0))
    return "GetMethodLineNumberTable returns an impossible number";
  for (int i = count; i <= kMost; i++)
    intact_ = intact_ && entries[i].start_bci == kPainted.start_bci &&
              entries[i].line_number == kPainted.line_number;
  if (count > 0 && api_.line(method, entries[0].start_bci) != entries[0].line_number)
    return "GetMethodLineNumber and GetMethodLineNumberTable return different lines";
  return nullptr;
}

const char* IdsCalls::ExamineOnce(ASGST_Class klass, uint64_t seed) {
  ASGST_ClassInfo whole{}, cut{};
  whole.class_name = class_name_.Paint(TextBuffer::kMost);
  whole.class_name_length = TextBuffer::kMost;
  api_.class_info(klass, &whole);
  const int32_t least = any_word_ ? -1 : 1;
  cut.class_name_length = std::max(SizeFrom(seed, 16), least);
  cut.generic_class_name_length = std::max(SizeFrom(seed, 8), least);
  cut.class_name = cut_name_.Paint(cut.class_name_length);
  cut.generic_class_name = cut_generic_.Paint(cut.generic_class_name_length);
  api_.class_info(klass, &cut);
  intact_ = intact_ && class_name_.Intact() && cut_name_.Intact() && cut_generic_.Intact();
  const bool named = whole.class_name_length > 0;
  if (!named) class_name_.Paint(0);
  if (api_.class_number(klass) != whole.idnum)
    return "GetClassIdNum and GetClassInfo return different numbers";
  if (whole.idnum != -1 && !named) return "GetClassInfo returns a class without a name";
  if (cut.idnum != whole.idnum || cut.modifiers != whole.modifiers ||
      cut.class_name_length != whole.class_name_length ||
      (any_word_ && cut.generic_class_name_length != whole.generic_class_name_length))
    return "GetClassInfo's answer depends on the buffers";
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
  api_.class_info(whole_.klass, &info);
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
  explicit IdsWalker(bool reference) : reference_(reference) {}

  Status Bind(const WalkerHost& host) override {
    if (!reference_) return BindToJdk(host);
    ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
    IdsApi api;
    RETURN_IF_ERROR(FindIn(library, "ASGST_GetMethodInfo", api.method_info, "ASGST_GetMethodIdNum",
                           api.method_number, "ASGST_GetMethodLineNumberTable", api.lines,
                           "ASGST_GetMethodLineNumber", api.line, "ASGST_GetClassInfo",
                           api.class_info, "ASGST_GetClassIdNum", api.class_number,
                           "ASGST_GetClass", api.class_of));
    calls_.Use(api, true);
    return FindIn(library, "ASGST_RunWithIterator", iterator_.api.run, "ASGST_NextFrame",
                  iterator_.api.next, "ASGST_MethodToJMethodID", iterator_.api.id_of);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    depth_ = input.depth;
    count_ = described_count_ = 0;
    cut_ = false;
    complaint_ = exam_complaint_;
    calls_.Begin();
    buffer_.Paint(depth_);
    const Registers at = ReadContext(*input.context);
    seed_ = (at.pc ^ at.sp << 20 ^ at.fp << 40 ^ input.depth) * kGoldenRatio;
    const auto store = [](ASGST_Iterator* iterator, void* self) {
      static_cast<IdsWalker*>(self)->Store(iterator);
    };
    const int result =
        iterator_.api.run(input.context, static_cast<int32_t>(input.options), store, this);
    if (reference_) ExamineOthers(at);
    trace.ended_on_request = result > 0 && cut_;
    trace.num_frames = iterator_.CodeOf(result > 0 ? count_ : result);
    trace.frames = buffer_.frames();
    trace.described = described_;
    trace.described_count = described_count_;
    trace.complaint = complaint_;
  }

  bool BufferIntact(const WalkInput& input) const override {
    return buffer_.Intact(input.depth) && calls_.intact();
  }

 private:
  Status BindToJdk(const WalkerHost& host) {
    ASSIGN_OR_RETURN(auto library, ProviderLibrary::Open(host));
    ASSIGN_OR_RETURN(iterator_, OpenJdkIterator(library, host.vm));
    ASSIGN_OR_RETURN(auto api, FindIdsApi(library, iterator_));
    calls_.Use(api, false);
    ASSIGN_OR_RETURN(exam_complaint_, ExamineIds(api, iterator_, host.vm));
    return Ok();
  }

  void Store(ASGST_Iterator* iterator) {
    Frame* frames = buffer_.frames();
    int result = 1;
    ASGST_Frame frame{};
    while (count_ < depth_ && (result = iterator_.api.next(iterator, &frame)) == 1) {
      if (!BelongsIntoAnswer(frame)) continue;
      if (count_ < kMostDescribed) Describe(frame.method);
      frames[count_++] = AnswerOf(frame, iterator_.IdOf(frame.method));
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
  const bool reference_;
  IdsCalls calls_;
  JdkIterator iterator_;
  const char* exam_complaint_ = nullptr;  // what was wrong when the API was examined live
  int depth_ = 0, count_ = 0, described_count_ = 0;
  bool cut_ = false;
  uint64_t seed_ = 0;
  const char* complaint_ = nullptr;
  ASGST_Method old_[kOld]{};
  DescribedFrame described_[kMostDescribed];
  CanaryBuffer<Frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakeIds() { return std::make_unique<IdsWalker>(true); }

std::unique_ptr<Walker> MakeIdsJdk() { return std::make_unique<IdsWalker>(false); }

}  // namespace walkhammer
