// SPDX-License-Identifier: Apache-2.0
#include "harness/store/answer_rows.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "harness/base/files.h"
#include "harness/ipc/line_state.h"
#include "harness/store/shared_rows.h"

namespace walkhammer {

Result<std::vector<Answer>> ReadAnswers(const std::string& dir) {
  const std::string path = dir + "/" + kAnswersName;
  constexpr size_t kMost = kMostAnswers * sizeof(uint64_t);
  std::vector<Answer> answers;
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 && errno == ENOENT) return answers;
  const bool is_file = S_ISREG(info.st_mode);
  const std::string bytes = is_file ? ReadFile(path, kMost + 1) : "";
  if (!is_file || bytes.size() > kMost || bytes.size() % sizeof(uint64_t) != 0 ||
      static_cast<off_t>(bytes.size()) != info.st_size)
    return BadInput(path + " is not a file of answers");
  answers.resize(bytes.size() / sizeof(uint64_t));
  for (size_t i = 0; i < answers.size(); i++) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i * sizeof word, sizeof word);
    answers[i] = {static_cast<uint32_t>(word >> 32), static_cast<uint32_t>(word)};
  }
  return answers;
}

std::string CodeOf(const Answer& answer) {
  return CodeText(answer.IsCutOff() ? kCodeCrash : answer.code());
}

}  // namespace walkhammer
