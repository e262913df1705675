// SPDX-License-Identifier: Apache-2.0
#include "harness/child/churn.h"

#include <algorithm>
#include <thread>

namespace walkhammer {
namespace {

// A pause takes 1 / kWindowsPerPause of the time of the window before it, so Java's share of the
// time is 1 / (kWindowsPerPause + 1).
constexpr int kWindowsPerPause = 4;
constexpr auto kLongestPause = std::chrono::milliseconds(50);

// Address of CollectedHeap::_total_collections; null if vmStructs lack it.
const volatile uint32_t* CollectionCount(const VmStructs& structs) {
  auto* heap = static_cast<char**>(structs.Static("Universe", "_collectedHeap"));
  auto offset = structs.Offset("CollectedHeap", "_total_collections");
  if (heap == nullptr || *heap == nullptr || !offset) return nullptr;
  return reinterpret_cast<const volatile uint32_t*>(*heap + *offset);
}

}  // namespace

Result<std::unique_ptr<Churn>> Churn::Start(Jvm& jvm, SharedState& shared) {
  const volatile uint32_t* collections = CollectionCount(jvm.structs());
  if (collections == nullptr)
    return Unable("this JVM does not report how often it collected: fuzz it without --churn");
  JNIEnv* env = jvm.env();
  jclass churn = env->FindClass("wh/Churn");
  jmethodID start = churn == nullptr
                        ? nullptr
                        : env->GetStaticMethodID(churn, "start", "(JLjava/nio/ByteBuffer;)V");
  if (start == nullptr)
    return ToolFailed("cannot load wh.Churn from walkhammer-scenes.jar: rebuild walkhammer");
  jobject counts = env->NewDirectByteBuffer(&shared.churn.java, sizeof shared.churn.java);
  env->CallStaticVoidMethod(churn, start, static_cast<jlong>(shared.job.seed), counts);
  if (env->ExceptionCheck() != JNI_FALSE) {
    env->ExceptionDescribe();
    env->ExceptionClear();
    return ToolFailed("wh.Churn.start threw an exception; it stands above");
  }
  env->DeleteLocalRef(counts);
  return std::unique_ptr<Churn>(new Churn(shared, collections));
}

void Churn::LetJavaRun() {
  const auto pause = (Clock::now() - window_start_) / kWindowsPerPause;
  std::this_thread::sleep_for(std::min<Clock::duration>(pause, kLongestPause));
  const uint32_t collections = *collections_;
  shared_.churn.collections.fetch_add(collections - seen_);
  seen_ = collections;
  window_start_ = Clock::now();
}

}  // namespace walkhammer
