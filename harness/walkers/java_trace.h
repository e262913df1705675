// SPDX-License-Identifier: Apache-2.0
// JavaTraceWalker: how both profilers walk over AsyncGetCallTrace, out of their libraries: a walk
// through C, and then Profiler::getJavaTraceAsync. The answer keeps the Java frames.
// Signal-safe: Walk yes; the rest no.
#ifndef WALKHAMMER_HARNESS_WALKERS_JAVA_TRACE_H_
#define WALKHAMMER_HARNESS_WALKERS_JAVA_TRACE_H_

#include <memory>
#include <span>
#include <string_view>

#include "harness/walkers/walker.h"

namespace walkhammer {

// What a profiler calls, by mangled names. Lists of forms that are as long as each other are of the
// same releases, in the same order; one form alone is of all releases. Each form takes the first so
// many of the parameters that are passed: more do no harm.
struct JavaTraceForms {
  const char* profiler;  // its name, for messages
  // What leads through C: f(context, pcs, 128, StackContext*, bool*), or, if `names_frames`, which
  // a member of Profiler does, f(this, context, frames, kind of sample, 0, StackContext*).
  const char* name;
  std::span<const char* const> prefixes;
  std::span<const std::string_view> through_c;
  bool names_frames;
  // Profiler::getJavaTraceAsync(this, context, frames, depth, StackContext*, bool*), or, without
  // `this`, HotspotSupport's of java-profiler since 1.41.
  std::span<const std::string_view> java;
};

// `forms` must outlive the walker.
std::unique_ptr<Walker> MakeJavaTraceWalker(const JavaTraceForms& forms);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_JAVA_TRACE_H_
