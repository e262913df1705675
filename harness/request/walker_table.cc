// SPDX-License-Identifier: Apache-2.0
#include "harness/request/walker_table.h"

#include <iterator>

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/include/asgst_iterator.h"

namespace walkhammer {
namespace {

constexpr DeclaredCode kAgctCodes[] = {
    {0, "no_Java_frame"},
    {-1, "no_class_load"},
    {-2, "GC_active"},
    {-3, "unknown_not_Java"},
    {-4, "not_walkable_not_Java"},
    {-5, "unknown_Java"},
    {-6, "not_walkable_Java"},
    {-7, "unknown_state"},
    {-8, "thread_exit"},
    {-9, "deopt"},
    {-10, "safepoint"},
};

constexpr DeclaredCode kAsgstCodes[] = {
    {ASGST_NO_JAVA_FRAME, "no_Java_frame"},
    {ASGST_NO_CLASS_LOAD, "no_class_load"},
    {ASGST_GC_ACTIVE, "GC_active"},
    {ASGST_UNKNOWN_NOT_JAVA, "unknown_not_Java"},
    {ASGST_NOT_WALKABLE_NOT_JAVA, "not_walkable_not_Java"},
    {ASGST_UNKNOWN_JAVA, "unknown_Java"},
    {ASGST_UNKNOWN_STATE, "unknown_state"},
    {ASGST_THREAD_EXIT, "thread_exit"},
    {ASGST_DEOPT, "deopt"},
    {ASGST_THREAD_NOT_JAVA, "thread_not_Java"},
    // Codes of the late prototype, which the other two layouts never had.
    {-11, "no_thread"},
    {-12, "unsafe_state"},
    {-13, "wrong_state"},
    {-14, "wrong_kind"},
};
constexpr size_t kLateCodes = 4;

// Those of all walkers that use libasgst.so's iterator.
constexpr DeclaredCode kIteratorCodes[] = {
    {ASGST_NO_FRAME, "no_frame"},
    {ASGST_NO_THREAD, "no_thread"},
    {ASGST_THREAD_IS_EXITING, "thread_exit"},
    {ASGST_UNSAFE_STATE, "unsafe_state"},
    {ASGST_NO_TOP_JAVA_FRAME, "no_top_Java_frame"},
    {ASGST_BROKEN_STACK, "broken_stack"},
    {ASGST_NOT_ATTACHED, "not_attached"},
};

constexpr int kOlderNoClassLoadCode = -16;  // NO_CLASS_LOAD, as the walker numbers it

constexpr uint32_t kAllOptions = ASGST_INCLUDE_NON_JAVA_FRAMES | ASGST_END_ON_FIRST_JAVA_FRAME;

// The codes of an iterator in a JDK, without those of queues.
constexpr DeclaredCode kJdkCodes[] = {
    {ASGST_NO_FRAME, "no_frame"},
    {ASGST_NO_THREAD, "no_thread"},
    {ASGST_THREAD_IS_EXITING, "thread_exit"},
    {ASGST_UNSAFE_STATE, "unsafe_state"},
    {ASGST_NO_TOP_JAVA_FRAME, "no_top_Java_frame"},
    {kOlderNoClassLoadCode, "no_class_load"},
};

// With those of ASGST_GetEnqueuableElement.
constexpr DeclaredCode kQueueJdkCodes[] = {
    {ASGST_NO_FRAME, "no_frame"},
    {ASGST_NO_THREAD, "no_thread"},
    {ASGST_THREAD_IS_EXITING, "thread_exit"},
    {ASGST_UNSAFE_STATE, "unsafe_state"},
    {ASGST_NO_TOP_JAVA_FRAME, "no_top_Java_frame"},
    {ASGST_ENQUEUE_OTHER_ERROR, "other_error"},
    {kOlderNoClassLoadCode, "no_class_load"},
};

constexpr DeclaredCode kQueueCodes[] = {
    {ASGST_NO_FRAME, "no_frame"},
    {ASGST_NO_THREAD, "no_thread"},
    {ASGST_THREAD_IS_EXITING, "thread_exit"},
    {ASGST_UNSAFE_STATE, "unsafe_state"},
    {ASGST_NO_TOP_JAVA_FRAME, "no_top_Java_frame"},
    {ASGST_ENQUEUE_NO_QUEUE, "no_queue"},
    {ASGST_ENQUEUE_FULL_QUEUE, "full_queue"},
    {ASGST_ENQUEUE_OTHER_ERROR, "other_error"},
    {ASGST_BROKEN_STACK, "broken_stack"},
    {ASGST_NOT_ATTACHED, "not_attached"},
};

constexpr DeclaredCode kRequestCodes[] = {
    {0, "promised"},
    {-1, "not_available"},
    {-2, "invalid_thread"},
};

// A plugin has error codes of its own.
constexpr DeclaredCode kPluginCodes[] = {{0, "no_Java_frame"}};

// Of StackWalker::walkVM in both profilers: its error frames.
constexpr DeclaredCode kVmFramesCodes[] = {
    {0, "no_Java_frame"},      {-1, "break_not_walkable"}, {-2, "break_stack_range"},
    {-3, "unknown_nmethod"},   {-4, "break_deopt"},        {-5, "break_interpreted"},
    {-6, "break_compiled"},    {-7, "break_entry_frame"},  {-8, "break_stub"},
    {-9, "other_error_frame"}, {-11, "skipped"},
};

// Of Profiler::getJavaTraceAsync in both profilers, over AsyncGetCallTrace: its codes, by the texts
// of Profiler::asgctError.
constexpr DeclaredCode kJavaTraceCodes[] = {
    {0, "no_Java_frame"},       {-2, "GC_active"},         {-4, "not_walkable_not_Java"},
    {-5, "unknown_Java"},       {-6, "not_walkable_Java"}, {-7, "unknown_state"},
    {-9, "deoptimization"},     {-10, "safepoint"},        {-11, "call_stub"},
    {-12, "other_error_frame"},
};

// For a walker that takes the stack that it runs on for the one to walk.
const char* WalksItsOwnStack(std::string_view mode) {
  return WalksOwnThread(mode) ? nullptr : "it walks no other thread";
}

// The draft allows a context of another thread only while that thread is suspended.
const char* ForItselfAlone(std::string_view mode) {
  if (mode == kSynthetic) return "its answer comes later, in a recording, which stress reads";
  return WalksOwnThread(mode) ? nullptr : "each thread asks for itself";
}

constexpr WalkerInfo Puzzle(const char* name, const char* what, const char* covered = nullptr) {
  return {.name = name,
          .what = what,
          .symbol = "AsyncGetCallTrace",
          .puzzle = true,
          .codes = kAgctCodes,
          .covered_function = covered};
}

constexpr WalkerInfo ReferencePuzzle(const char* name, const char* what) {
  return {.name = name,
          .what = what,
          .puzzle = true,
          .codes = std::span(kAsgstCodes).first(std::size(kAsgstCodes) - kLateCodes),
          .provider = "ref",
          .options = ASGST_INCLUDE_C_FRAMES};
}

// Puzzles come last, because walkers are appended before them.
// clang-format off
constexpr WalkerInfo kWalkers[] = {
#define ROW(make, ...) __VA_ARGS__,
#include "harness/request/walker_rows.inc"
#include "harness/request/puzzle_rows.inc"
#undef ROW
};
// clang-format on

}  // namespace

bool WalksOwnThread(std::string_view mode) {
  return mode == "handler" || mode == "nested" || mode == kSynthetic;
}

std::span<const WalkerInfo> AllWalkers() { return kWalkers; }

std::optional<int> FindWalker(std::string_view name) {
  const size_t at = name.find('@');
  const std::string_view provider = at == name.npos ? "" : name.substr(at + 1);
  auto walkers = AllWalkers();
  for (size_t i = 0; i < walkers.size(); i++)
    if (name == walkers[i].name || (!provider.empty() && name.substr(0, at) == walkers[i].name &&
                                    provider == walkers[i].provider))
      return static_cast<int>(i);
  return std::nullopt;
}

const char* CodeName(const WalkerInfo& walker, int32_t code) {
  for (const DeclaredCode& declared : walker.codes)
    if (declared.code == code) return declared.name;
  return code < walker.private_codes_below ? "implementation_specific" : nullptr;
}

}  // namespace walkhammer
