// SPDX-License-Identifier: Apache-2.0
// IdsCalls: calls the ids functions with any handle and buffers of any size, and finds
// contradictions in their answers without knowing the truth. Signal-safe: all but Bind.
#ifndef WALKHAMMER_HARNESS_WALKERS_IDS_CALLS_H_
#define WALKHAMMER_HARNESS_WALKERS_IDS_CALLS_H_

#include <cstdint>

#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/result.h"
#include "harness/base/trace.h"

namespace walkhammer {

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

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_IDS_CALLS_H_
