// SPDX-License-Identifier: Apache-2.0
// Answers: a digest of each answer that the first walker of a campaign gave, by the number of its
// request, in a file that parent and children share. Runs of two builds that were shown the same
// requests can be compared request by request. Signal-safe: Begin and End yes; the rest no.
#ifndef WALKHAMMER_HARNESS_IPC_ANSWERS_H_
#define WALKHAMMER_HARNESS_IPC_ANSWERS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "harness/base/result.h"

namespace walkhammer {

inline constexpr char kAnswersName[] = "answers";                 // the file, in a run's folder
inline constexpr char kAnswersVariable[] = "WALKHAMMER_ANSWERS";  // environment: path of the file
inline constexpr uint64_t kMostAnswers = 1 << 22;                 // later requests are not kept

// What the file has of a request.
struct Answer {
  uint32_t request = 0;  // hash of this request and of those before it in its window
  uint32_t digest = 0;   // 0: not walked; see DigestOf

  bool IsWalked() const { return digest != 0; }
  // The walk began, and the process died in it.
  bool IsCutOff() const { return digest == kCutOff; }
  // CodeSlotOf the answer; only if it is walked and not cut off.
  int code() const { return static_cast<int>(digest & 0xff) - kFirstCode; }

  static constexpr uint32_t kCutOff = 1;
  static constexpr int kFirstCode = 2;
};

// Digest of an answer: its code slot, and a hash of its frames. `frame_hash`: of all frames of a
// walk that returned frames; else 0. Never 0 or Answer::kCutOff.
constexpr uint32_t DigestOf(int code_slot, uint64_t frame_hash) {
  return static_cast<uint32_t>(code_slot + Answer::kFirstCode) |
         static_cast<uint32_t>(frame_hash >> 40) << 8;
}

class Answers {
 public:
  // Makes the file.
  static Result<Answers> Create(const std::string& path);
  // Maps the file that the environment names; nothing is kept if it names none.
  static Result<Answers> OpenFromEnvironment();

  bool wanted() const { return words_ != nullptr; }
  // Cuts the file at `path` behind the last answer, and unmaps it. Once nobody else has it mapped.
  Status Trim(const std::string& path);
  // Before and after the walk of request `sequence`.
  void Begin(uint64_t sequence, uint64_t request_hash) {
    if (sequence < kMostAnswers && wanted())
      Store(sequence, request_hash >> 32 << 32 | Answer::kCutOff);
  }
  void End(uint64_t sequence, uint64_t request_hash, uint32_t digest) {
    if (sequence < kMostAnswers && wanted()) Store(sequence, request_hash >> 32 << 32 | digest);
  }

 private:
  struct Unmap {
    void operator()(std::atomic<uint64_t>* words) const;
  };
  void Store(uint64_t sequence, uint64_t word) {
    words_.get()[sequence].store(word, std::memory_order_relaxed);
  }
  static Result<Answers> Map(const std::string& path);

  std::unique_ptr<std::atomic<uint64_t>, Unmap> words_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_IPC_ANSWERS_H_
