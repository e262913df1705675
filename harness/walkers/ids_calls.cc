// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/ids_calls.h"

#include <algorithm>
#include <cstring>

#include "harness/walkers/reference_library.h"

namespace walkhammer {
namespace {

// A buffer size from bits of `seed`: -1 to 6 in half of the cases, else 0 to 127.
int32_t SizeFrom(uint64_t seed, int shift) {
  const auto bits = static_cast<int32_t>(seed >> shift & 0xff);
  return bits < 128 ? bits % 8 - 1 : bits - 128;
}

}  // namespace

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
  if (known != (whole_.method_name != nullptr) || known != (whole_.signature != nullptr))
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
  if (whole.class_name == nullptr) class_name_.Paint(0);
  if (class_number_(klass) != whole.idnum)
    return "GetClassIdNum and GetClassInfo tell of other numbers";
  if (whole.idnum != -1 && whole.class_name == nullptr)
    return "GetClassInfo tells of a class without a name";
  if (cut.idnum != whole.idnum || cut.modifiers != whole.modifiers ||
      cut.class_name_length != whole.class_name_length ||
      cut.generic_class_name_length != whole.generic_class_name_length)
    return "GetClassInfo answers otherwise with other buffers";
  if (whole.class_name != nullptr &&
      !cut_name_.HoldsBeginningOf(class_name_.text(), whole.class_name_length))
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
  if (whole_.klass != nullptr && info.class_name != nullptr) {
    append(name, std::min<int32_t>(info.class_name_length, sizeof name - 1));
    append(".", 1);
    append(name_.text(), whole_.method_name_length);
    append(signature_.text(), whole_.signature_length);
  }
  frame.text[at] = '\0';
}

}  // namespace walkhammer
