// SPDX-License-Identifier: Apache-2.0
// Writes class files byte by byte, for the small classes that walkers define themselves.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_WALKERS_CLASS_FILE_H_
#define WALKHAMMER_HARNESS_WALKERS_CLASS_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace walkhammer {

class ClassFile {
 public:
  // Appends the lowest `count` bytes of `number`, the highest first.
  void Add(uint64_t number, int count) {
    for (int i = count - 1; i >= 0; i--) bytes_.push_back(static_cast<char>(number >> 8 * i));
  }
  // Appends a constant CONSTANT_Utf8.
  void AddUtf8(std::string_view text) {
    Add(1, 1);
    Add(text.size(), 2);
    bytes_ += text;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_CLASS_FILE_H_
