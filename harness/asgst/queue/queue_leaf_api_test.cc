// SPDX-License-Identifier: Apache-2.0
// Queued samples of torture programs, compared with walks that the signal handler made from the
// same ucontext, on a live JVM.
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <memory>
#include <numeric>

#include "harness/asgst/testing/queue_testing.h"
#include "harness/jvm/live/jvmti_env.h"

namespace walkhammer::asgst {
namespace {

constexpr int kDepth = 48, kMostSamples = 1 << 15, kCapacity = 64, kRecorded = 8;

// What the signal handler's own walk returned, from the newest frame that has bytecodes on.
struct Sample {
  struct At {
    ASGST_Method method;
    int bci;
    bool is_inlined;
    bool operator==(const At&) const = default;
  };
  int count = 0;
  At frames[kDepth];

  bool is_complete() const { return count < kDepth; }
  void Take(ASGST_Iterator* iterator) {
    count = 0;
    for (ASGST_Frame frame; count < kDepth && ASGST_NextFrame(iterator, &frame) == 1;)
      if (count > 0 || frame.type != ASGST_FRAME2_JAVA_NATIVE)
        frames[count++] = {frame.method, frame.bci, frame.type == ASGST_FRAME2_JAVA_INLINED};
  }
  // Number of newest frames that are the same in both.
  int Common(const Sample& other) const {
    int n = 0;
    while (n < count && n < other.count && frames[n] == other.frames[n]) n++;
    return n;
  }
};

// A Java thread's queue and signal stack: programs may use up their own stacks.
struct Sampled {
  static constexpr size_t kBytes = 1 << 16;
  ~Sampled() {
    if (stack == nullptr) return;
    queue = nullptr;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  ASGST_Queue* queue = nullptr;
  std::unique_ptr<char[]> stack;
};
thread_local Sampled sampled;

std::string Text(const Sample& sample) {
  std::string text;
  for (int n = 0; n < std::min(sample.count, 2 * kRecorded); n++) {
    const Sample::At& at = sample.frames[n];
    text +=
        NameOf(at.method) + " @ " + std::to_string(at.bci) + (at.is_inlined ? " inlined\n" : "\n");
  }
  return text;
}

// AsyncGetStackTrace names the same leaf as the iterator.
bool AgreesOnLeaf(void* context, const Sample& sample) {
  ASGST_CallFrame frames[kRecorded];
  ASGST_CallTrace trace = {0, frames, nullptr};
  AsyncGetStackTrace(&trace, kRecorded, context, 0);
  int leaf = 0;
  while (leaf < trace.num_frames && frames[leaf].type == ASGST_FRAME_NATIVE) leaf++;
  if (leaf >= trace.num_frames) return sample.count == 0;
  const ASGST_JavaFrame& frame = frames[leaf].java_frame;
  return sample.count > 0 && frame.bci == static_cast<uint16_t>(sample.frames[0].bci) &&
         frame.method_id == ASGST_MethodToJMethodID(sample.frames[0].method);
}

// Samples all threads that start while it lives. There is one at a time.
class LeafSampler {
 public:
  struct Counts {
    // By asgst_element_state: samples; those whose leaf, whose kRecorded newest frames, and all of
    // whose frames are those of the handler.
    int samples[5], leaves[5], newest[5], stacks[5];
  };

  LeafSampler() {
    the_sampler = this;
    jvmtiEventCallbacks callbacks{};
    callbacks.ThreadStart = OnStart;
    jvmti_->SetEventCallbacks(&callbacks, sizeof callbacks);
    jvmti_->SetEventNotificationMode(JVMTI_ENABLE, JVMTI_EVENT_THREAD_START, nullptr);
    SetHandler(&on_signal_);
    thread_ = std::thread([this] { SendSignals(); });
  }
  ~LeafSampler() { Stop(); }
  // Returns when all elements are handled.
  void Stop() {
    if (stop_.exchange(true)) return;
    thread_.join();
    SetHandler(nullptr);
    jvmti_->DisposeEnvironment();
    EXPECT_TRUE(WaitFor([&] { return handled_.load() == queued_.load(); }));
  }

  int queued() const { return queued_; }
  // The frames of the handler's walk and of a queued sample whose newest frames are others.
  const std::string& difference() const { return difference_; }
  int walkers_differ() const { return walkers_differ_; }
  int refused() const { return refused_; }  // though there is a frame, and room in the queue
  const Counts& counts() const { return counts_; }

 private:
  static void JNICALL OnStart(jvmtiEnv*, JNIEnv* env, jthread) {
    sampled.stack = std::make_unique<char[]>(Sampled::kBytes);
    stack_t own{};
    own.ss_sp = sampled.stack.get();
    own.ss_size = Sampled::kBytes;
    sigaltstack(&own, nullptr);
    sampled.queue = ASGST_RegisterQueue(env, kCapacity, 0, Handle, the_sampler);
    const std::lock_guard lock(the_sampler->mutex_);
    the_sampler->threads_.push_back(static_cast<int>(syscall(SYS_gettid)));
  }

  void SendSignals() {
    while (!stop_) {
      std::vector<int> threads;
      {
        const std::lock_guard lock(mutex_);
        // A thread that has ended needs no more.
        std::erase_if(threads_, [](int id) { return syscall(SYS_tgkill, getpid(), id, 0) != 0; });
        threads = threads_;
      }
      for (const int id : threads) {
        syscall(SYS_tgkill, getpid(), id, SIGPROF);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
  }

  void OnSignal(ucontext_t* context) {
    if (sampled.queue == nullptr) return;
    const int index = next_.fetch_add(1);
    if (index >= kMostSamples) return;
    Sample& sample = samples_[index];
    Iterate(context, [&](ASGST_Iterator* iterator) { sample.Take(iterator); });
    if (!AgreesOnLeaf(context, sample)) walkers_differ_++;
    queued_++;
    const int result = ASGST_Enqueue(sampled.queue, context, Tag(index));
    if (result > 0) return;
    queued_--;
    if (result != ASGST_ENQUEUE_FULL_QUEUE && sample.count > 0) refused_++;
  }

  static void Handle(ASGST_Iterator* iterator, void* self, void* arg) {
    auto* sampler = static_cast<LeafSampler*>(self);
    sampler->Compare(iterator, sampler->samples_[reinterpret_cast<intptr_t>(arg)]);
  }

  void Compare(ASGST_Iterator* iterator, const Sample& before) {
    const int state = asgst_element_state(iterator);
    Sample after;
    after.Take(iterator);
    const int end = ASGST_State(iterator);
    const int common = after.Common(before);
    // A stack is whole, or it ends where the queue says that it knows no more.
    const bool is_cut = state == ASGST_ELEMENT_LOST && end == ASGST_BROKEN_STACK;
    const int wanted =
        is_cut ? std::max(after.count, std::min(before.count, kRecorded)) : before.count;
    const std::lock_guard lock(compare_mutex_);
    counts_.samples[state]++;
    if (common > 0) counts_.leaves[state]++;
    if (common >= std::min(wanted, kRecorded))
      counts_.newest[state]++;
    else
      difference_ =
          "state " + std::to_string(state) + "\n" + Text(before) + "queued:\n" + Text(after);
    if (common == wanted && common == after.count) counts_.stacks[state]++;
    handled_++;
  }

  static inline LeafSampler* the_sampler = nullptr;

  const InHandler on_signal_ = [this](ucontext_t* context) { OnSignal(context); };
  jvmtiEnv* const jvmti_ = NewJvmti(LiveJvm::Get().jvm().vm());
  std::mutex mutex_, compare_mutex_;
  std::vector<int> threads_;
  std::atomic<bool> stop_{false};
  std::atomic<int> next_{0}, queued_{0}, handled_{0}, walkers_differ_{0}, refused_{0};
  std::vector<Sample> samples_{kMostSamples};
  Counts counts_{};
  std::string difference_;
  std::thread thread_;
};

// Runs a torture program on two threads.
void Torture(const std::string& name, int seconds) {
  JNIEnv* env = LiveJvm::Get().env();
  jclass queued = env->FindClass("wh/Queued");
  jmethodID play = env->GetStaticMethodID(queued, "play", "(Ljava/lang/String;I)I");
  EXPECT_EQ(env->CallStaticIntMethod(queued, play, env->NewStringUTF(name.c_str()), seconds), 0)
      << name;
  if (env->ExceptionCheck()) env->ExceptionDescribe();
}

int Sum(const int (&counts)[5]) { return std::accumulate(counts, counts + 5, 0); }

void ExpectSampledLeaves(const char* program) {
  constexpr int kWanted = 10'000, kSeconds = 1, kMostRounds = 60;
  LeafSampler sampler;
  for (int round = 0; round < kMostRounds && sampler.queued() < kWanted; round++)
    Torture(program, kSeconds);
  sampler.Stop();
  const LeafSampler::Counts& counts = sampler.counts();
  printf(
      "%s: exact %d, moved %d, returned %d, lost %d; as in the handler: leaf %d, %d newest %d, "
      "all frames %d\n",
      program, counts.samples[1], counts.samples[2], counts.samples[3], counts.samples[4],
      Sum(counts.leaves), kRecorded, Sum(counts.newest), Sum(counts.stacks));
  EXPECT_GE(Sum(counts.samples), kWanted);
  EXPECT_GT(counts.samples[ASGST_ELEMENT_RETURNED] + counts.samples[ASGST_ELEMENT_LOST], 0)
      << "or nothing is shown";
  EXPECT_EQ(Sum(counts.leaves), Sum(counts.samples));
  EXPECT_EQ(Sum(counts.newest), Sum(counts.samples)) << sampler.difference();
  // Older frames may have been called anew.
  EXPECT_GE(Sum(counts.stacks), Sum(counts.samples) / 100 * 95);
  EXPECT_EQ(sampler.walkers_differ(), 0);
  EXPECT_EQ(sampler.refused(), 0);
}

TEST(QueueLeaf, IsTheSampledOneInAllSamplesOfMixed) { ExpectSampledLeaves("mixed"); }

TEST(QueueLeaf, IsTheSampledOneInAllSamplesOfShapes) { ExpectSampledLeaves("shapes"); }

}  // namespace
}  // namespace walkhammer::asgst
