// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/asgst_layout.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

#include "harness/base/text.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

constexpr uint8_t kPaint = 0xa5;
constexpr int kWords = 8;  // of the trace; no known layout has more than four
constexpr int kDepth = 16;
constexpr size_t kAreaBytes = 4096;
constexpr size_t kFrameBytes = sizeof(ASGST_CallFrame);
constexpr uint8_t kMostKinds = 2 * kAsgstUnknown - 1;
constexpr uint8_t kMostEarlyKind = 4;

template <typename T>
T Read(const uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

bool IsPainted(const uint8_t* from, size_t size) {
  return std::all_of(from, from + size, [](uint8_t byte) { return byte == kPaint; });
}

// Hexadecimal text, with a space after each eight bytes.
std::string HexWords(const uint8_t* from, size_t size) {
  std::string text;
  for (size_t i = 0; i < size; i += 8)
    text += (i > 0 ? " " : "") + HexBytes(from + i, std::min<size_t>(8, size - i));
  return text;
}

// An area for each word of the trace but word 0. The area of word 1 is at a multiple of 4 GiB: the
// late layout reads the low half of the pointer to it, 0, as its state, a filter that passes all.
class Areas {
 public:
  Areas() {
    for (uint64_t i = 16; i < 0x7fff && memory_ == nullptr; i++) {
      void* wanted = reinterpret_cast<void*>(i << 32);
      void* got = mmap(wanted, kBytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
      if (got == wanted) memory_ = static_cast<uint8_t*>(got);
      // Kernels before 4.17 take the address as a hint.
      if (got != wanted && got != MAP_FAILED) munmap(got, kBytes);
    }
  }
  ~Areas() {
    if (memory_ != nullptr) munmap(memory_, kBytes);
  }
  Areas(const Areas&) = delete;
  Areas& operator=(const Areas&) = delete;

  bool ok() const { return memory_ != nullptr; }
  uint8_t* Of(int word) const { return memory_ + kAreaBytes * static_cast<size_t>(word - 1); }
  void Paint() const { std::memset(memory_, kPaint, kBytes); }

 private:
  static constexpr size_t kBytes = kAreaBytes * (kWords - 1);
  uint8_t* memory_ = nullptr;
};

// The trace of one call, before and after that call.
struct Call {
  alignas(8) uint8_t trace[8 * kWords];
  uint8_t before[8 * kWords];

  Call(const Areas& areas, uint8_t kind) {
    areas.Paint();
    std::memset(trace, kPaint, sizeof trace);
    std::memcpy(trace, &kNoAnswer, sizeof kNoAnswer);
    trace[4] = kind;
    for (int word = 1; word < kWords; word++) {
      const uint8_t* area = areas.Of(word);
      std::memcpy(trace + 8 * word, &area, sizeof area);
    }
    std::memcpy(before, trace, sizeof trace);
  }

  bool Wrote(size_t from, size_t size) const {
    return std::memcmp(trace + from, before + from, size) != 0;
  }
  jint num_frames() const { return Read<jint>(trace); }
};

class Probe {
 public:
  Probe(AsgstFunction function, const KnownFrames& known, void* context)
      : function_(function), known_(known), context_(context) {}

  Result<AsgstLayout> Run() {
    if (!areas_.ok()) return ToolFailed("there is no room for the probe of AsyncGetStackTrace");
    Call first(areas_, 0);
    std::string wrong = Walk(first);
    int frames_word = 0;
    if (wrong.empty()) wrong = FindFrames(frames_word);
    if (wrong.empty()) wrong = CheckFrames(areas_.Of(frames_word), first.num_frames());
    if (!wrong.empty()) return Unfit(wrong);
    if (frames_word == 2) {
      wrong = CheckLate(first);
      if (wrong.empty()) return AsgstLayout::kLate;
    } else if (frames_word == 1) {
      wrong = CheckShort(first);
      if (wrong.empty()) return DraftOrEarly();
    } else {
      wrong = "the frames went where word " + std::to_string(frames_word) + " of the trace leads";
    }
    return Unfit(wrong);
  }

 private:
  // The functions that return a string say what is wrong; empty: nothing.

  std::string Walk(Call& call) const {
    Status called = CallUnknown([&] { function_(call.trace, kDepth, context_, kAsgstSameThread); });
    return called.ok() ? Answer(call) : called.failure().message;
  }

  static std::string Answer(const Call& call) {
    const jint count = call.num_frames();
    if (count == kNoAnswer) return "num_frames, the trace's first word, was not written";
    if (count <= 0)
      return "it answered " + std::to_string(count) +
             " on a thread that is in a native method which Java has called";
    if (count > kDepth) return "it answered more frames than were asked for";
    return "";
  }

  std::string FindFrames(int& found) const {
    for (int word = 1; word < kWords; word++) {
      if (IsPainted(areas_.Of(word), kAreaBytes)) continue;
      if (found != 0)
        return "it wrote where words " + std::to_string(found) + " and " + std::to_string(word) +
               " of the trace lead";
      found = word;
    }
    return found == 0 ? "it wrote no frames" : "";
  }

  std::string CheckFrames(const uint8_t* frames, int count) const {
    const size_t size = kFrameBytes * static_cast<size_t>(count);
    if (!IsPainted(frames + size, kAreaBytes - size))
      return std::to_string(count) + " frames of 16 bytes, but it wrote behind them";
    bool called = false;
    for (const uint8_t* frame = frames; frame < frames + size; frame += kFrameBytes) {
      if (IsPainted(frame, kFrameBytes))
        return "it counted " + std::to_string(count) + " frames, but wrote fewer";
      const auto method = reinterpret_cast<jmethodID>(Read<uintptr_t>(frame + 8));
      const bool caller = method == known_.caller, native = method == known_.native;
      const int type = frame[0], bci = Read<uint16_t>(frame + 2);
      const int level = static_cast<int8_t>(frame[1]);
      if ((native && type != ASGST_FRAME_NATIVE) ||
          (caller && ((type != ASGST_FRAME_JAVA && type != ASGST_FRAME_JAVA_INLINED) ||
                      level < -1 || level > 4 || bci != known_.bci)))
        return "a frame that should hold " +
               (native ? std::string("type 3")
                       : "type 1, a level and bytecode index " + std::to_string(known_.bci)) +
               " is " + HexWords(frame, kFrameBytes);
      called |= caller;
    }
    return called ? ""
                  : "no frame holds the known method in its second word; the first is " +
                        HexWords(frames, kFrameBytes);
  }

  // Checks a trace whose layout has `words` words.
  static std::string CheckTrace(const Call& call, size_t words) {
    // The padding after the kind, which has one byte.
    if (call.Wrote(5, 3))
      return "bytes 4 to 7 of the trace became " + HexWords(call.trace + 4, 4) +
             ": no kind of one byte";
    const size_t size = 8 * words;
    if (call.Wrote(size, sizeof call.trace - size))
      return "it wrote behind the trace's " + std::to_string(words) + " words";
    return "";
  }

  static std::string CheckLate(const Call& call) {
    std::string wrong = CheckTrace(call, 4);
    if (!wrong.empty()) return wrong;
    if (call.Wrote(12, 4)) return "it wrote between the trace's state and its frames";
    if (call.Wrote(16, 8)) return "it changed the pointer to the frames";
    const int kind = call.trace[4];
    if (kind == 0 || kind > kMostKinds)
      return "the frames stand as in the late prototype, but the kind became " +
             std::to_string(kind) + ", no mask of its kinds";
    if (!call.Wrote(8, 4))
      return "the frames stand as in the late prototype, but no state was written";
    return "";
  }

  static std::string CheckShort(const Call& call) {
    std::string wrong = CheckTrace(call, 3);
    if (wrong.empty() && call.Wrote(8, 8)) wrong = "it changed the pointer to the frames";
    return wrong;
  }

  // The early layout's kind of a Java trace is 0. The first call had 0 there already, which shows
  // nothing, so the second call has another value there.
  Result<AsgstLayout> DraftOrEarly() {
    Call second(areas_, kPaint);
    std::string wrong = Walk(second);
    if (wrong.empty()) wrong = CheckShort(second);
    if (!wrong.empty()) return Unfit(wrong);
    if (!second.Wrote(4, 1)) return AsgstLayout::kDraft;
    if (second.trace[4] <= kMostEarlyKind) return AsgstLayout::kEarly;
    return Unfit("the frames stand as in the early prototype, but the kind became " +
                 std::to_string(second.trace[4]));
  }

  static Failure Unfit(const std::string& seen) {
    return Unable("this AsyncGetStackTrace follows none of the layouts that walkhammer knows: " +
                  seen);
  }

  const AsgstFunction function_;
  const KnownFrames& known_;
  void* const context_;
  const Areas areas_;
};

}  // namespace

Result<AsgstLayout> ProbeAsgst(AsgstFunction function, const KnownFrames& known, void* context) {
  return Probe(function, known, context).Run();
}

}  // namespace walkhammer
