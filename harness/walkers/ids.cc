// SPDX-License-Identifier: Apache-2.0
// ids: the ASGST iterator, with what the ids functions say of each frame's method and class, as
// libasgst.so implements them on a stock JDK.
#include "harness/asgst/include/asgst_iterator.h"
#include "harness/base/hash.h"
#include "harness/guard/arch.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/ids_calls.h"
#include "harness/walkers/iterated_frame.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/reference_library.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

class IdsWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(auto library, OpenReference(host.vm));
    Status found = calls_.Bind(library);
    if (!found.ok()) return found;
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
