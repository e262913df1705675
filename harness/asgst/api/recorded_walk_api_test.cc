// SPDX-License-Identifier: Apache-2.0
// The reference walk in this process, recorded and compared with JVMTI. $WALKHAMMER_RECORD names a
// folder where the records are kept; those of harness/asgst/testing/recorded were made so.
#include <cstdlib>
#include <fstream>

#include "harness/asgst/testing/live_jvm.h"
#include "harness/asgst/testing/recorded_walk.h"
#include "harness/guard/arch.h"

namespace walkhammer::asgst {
namespace {

// Reads this process and records each word that is read.
class RecordingMemory final : public MemoryReader {
 public:
  explicit RecordingMemory(MadeUpMemory& record) : record_(record) {}
  bool ReadWord(uint64_t address, uint64_t& word) const override {
    if (address < 4096) return false;
    word = *reinterpret_cast<const volatile uint64_t*>(address);
    record_.Put(address, word);
    return true;
  }

 private:
  MadeUpMemory& record_;
};

class RecordedWalkApi : public LiveTest {
 protected:
  RecordedWalk Record(JNIEnv* env, const ucontext_t* context) {
    RecordedWalk walk;
    auto layout = ReadWalkLayout(jvm_.structs(), jvm_.feature());
    EXPECT_TRUE(layout.ok());
    walk.arch = kArchName;
    walk.layout = layout.value();
    const JavaThreadView thread = jvm_.ThreadOf(env);
    walk.start.thread = reinterpret_cast<uint64_t>(thread.address());
    walk.start.stack_high = thread.stack_base();
    walk.start.stack_floor = thread.stack_limit();
    if (context != nullptr) {
      walk.start.registers = ReadContext(*context);
      walk.start.java = ReadJavaRegisters(*context);
    }
    walk.frames = walk.Walk(RecordingMemory(walk.memory), [&](const JavaFrame& frame) {
      return walk.methods[frame.method] = NameOf(reinterpret_cast<jmethodID>(frame.facts.id));
    });
    return walk;
  }

  void Keep(const RecordedWalk& walk, const std::string& name) {
    EXPECT_EQ(walk.Again(), walk.frames);
    const char* folder = std::getenv("WALKHAMMER_RECORD");
    if (folder == nullptr) return;
    std::ofstream file(std::string(folder) + "/" + walk.arch + "-jdk" +
                       std::to_string(jvm_.feature()) + "-" + name);
    Write(walk, file);
    EXPECT_TRUE(file.good());
  }

  // Frames of the current thread by JVMTI, newest first; native methods have bytecode -1.
  std::vector<std::pair<std::string, int>> Truth() {
    jvmtiFrameInfo frames[64];
    jint count = 0;
    EXPECT_EQ(jvm_.jvmti()->GetStackTrace(nullptr, 0, 64, frames, &count), JVMTI_ERROR_NONE);
    std::vector<std::pair<std::string, int>> all;
    for (int i = 0; i < count; i++)
      all.emplace_back(NameOf(frames[i].method), static_cast<int>(frames[i].location));
    return all;
  }

  Jvm& jvm_ = live_.jvm();
};

TEST_F(RecordedWalkApi, InNative) {
  for (const char* method : {"interpProbe", "c1Chain", "c2Chain"}) {
    RecordedWalk walk;
    std::vector<std::pair<std::string, int>> truth;
    live_.on_probe = [&] {
      truth = Truth();
      walk = Record(jvm_.env(), nullptr);
    };
    live_.Call(method);
    std::vector<std::pair<std::string, int>> seen;
    for (const RecordedFrame& frame : walk.frames) seen.emplace_back(frame.method, frame.bci);
    EXPECT_EQ(seen, truth) << method;
    EXPECT_GE(seen.size(), 2U);
    Keep(walk, method);
  }
}

// The thread waits in its signal handler while it is walked.
TEST_F(RecordedWalkApi, Interrupted) {
  for (const char* method : {"interpSpin", "c2Spin"}) {
    RunningMethod running(method);
    RecordedWalk walk;
    running.WhileParked([&](ucontext_t* context) { walk = Record(running.env(), context); });
    ASSERT_FALSE(walk.frames.empty()) << method;
    EXPECT_EQ(walk.frames.back().method, std::string("wh.Api.") + method + "()V");
    Keep(walk, method);
  }
}

}  // namespace
}  // namespace walkhammer::asgst
