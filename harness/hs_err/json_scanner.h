// SPDX-License-Identifier: Apache-2.0
// JsonScanner: the tokens of JSON, also of one that is cut or has other text around it, which a
// parser of whole documents refuses. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_JSON_SCANNER_H_
#define WALKHAMMER_HARNESS_HS_ERR_JSON_SCANNER_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace walkhammer {

struct JsonToken {
  enum class Kind : uint8_t {
    kString,
    kScalar,  // a number, true, false, null
    kMark     // one of "{}[]:,"
  };
  Kind kind = Kind::kMark;
  std::string text;           // a string without its quotes and escapes
  size_t begin = 0, end = 0;  // in the scanned text
  bool Is(char mark) const { return kind == Kind::kMark && text[0] == mark; }
};

class JsonScanner {
 public:
  explicit JsonScanner(std::string_view text) : text_(text) {}

  // Returns false at the end. A string ends at its quote, at a line's end, or with the text.
  bool Next(JsonToken& token);

 private:
  void ReadString(JsonToken& token);
  void ReadEscape(std::string& out);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_JSON_SCANNER_H_
