// SPDX-License-Identifier: Apache-2.0
// PrivateSections: what of a crash log is private over several lines, whatever their words are: the
// environment, keys in PEM form, texts of Java strings. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_PRIVATE_SECTIONS_H_
#define WALKHAMMER_HARNESS_HS_ERR_PRIVATE_SECTIONS_H_

#include <string>
#include <string_view>

#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {

class PrivateSections {
 public:
  // Replaces what of the next line is private. `plain`: the line without what logs put before it.
  void Replace(std::string& line, std::string_view plain, DoneWords& done);

 private:
  bool GoesOnWithEnvironment(std::string_view plain);
  void ReplaceVariable(std::string& line, std::string_view plain, DoneWords& done);
  // True if the line was a part of it, and is replaced.
  bool GoOnWithKey(std::string& line, std::string_view plain);
  void BeginKeys(std::string& line, std::string_view plain, DoneWords& done);
  bool GoOnWithString(std::string& line, std::string_view plain);
  void BeginString(std::string& line, std::string_view plain, DoneWords& done);

  bool in_environment_ = false, after_blank_ = false;
  size_t environment_prefix_ = 0;  // what each line has before a variable, besides what is known
  size_t key_prefix_ = 0;
  int key_lines_ = 0, string_lines_ = 0;  // how many more may follow; 0: not inside
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_PRIVATE_SECTIONS_H_
