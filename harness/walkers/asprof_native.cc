// SPDX-License-Identifier: Apache-2.0
// How async-profiler, releases 4.2 to 4.6, walks where it is told not to walk by vmStructs. Its
// cstack=fp and cstack=dwarf name the frames of C by getNativeTrace (walkFP is a part of that) or
// by walkDwarf; Profiler::getJavaTraceAsync has AsyncGetCallTrace walk the Java frames. Up to 4.3
// the walk through C leads to the newest Java frame, and a walk that fails is tried again from
// other registers; from 4.4 on AsyncGetCallTrace's answer stands. The answer keeps the Java frames.
#include "harness/walkers/java_trace.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/profiler_frames.h"
#include "harness/walkers/profiler_library.h"

namespace walkhammer {
namespace {

// Releases from 4.4 on, and those before. The newer getNativeTrace takes a pointer to a number of
// perf events, which is not written here, in place of the StackContext*.
constexpr std::string_view kJavaForms[] = {
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFramei",
    "_ZN8Profiler17getJavaTraceAsyncEPvP15ASGCT_CallFrameiP12StackContext"};
constexpr std::string_view kFpForms[] = {
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiPy",
    "_ZN8Profiler14getNativeTraceEPvP15ASGCT_CallFrame9EventTypeiP12StackContext"};
constexpr std::string_view kDwarfForms[] = {"_ZN11StackWalker9walkDwarfEPvPPKvi",
                                            "_ZN11StackWalker9walkDwarfEPvPPKviP12StackContext"};

constexpr JavaTraceForms kAsprofFp = {
    "async-profiler", "Profiler::getNativeTrace", kGetNativeTrace, kFpForms, true, kJavaForms};
constexpr JavaTraceForms kAsprofDwarf = {
    "async-profiler", "StackWalker::walkDwarf", kWalkDwarf, kDwarfForms, false, kJavaForms};

}  // namespace

std::unique_ptr<Walker> MakeAsprofFp() { return MakeJavaTraceWalker(kAsprofFp); }

std::unique_ptr<Walker> MakeAsprofDwarf() { return MakeJavaTraceWalker(kAsprofDwarf); }

}  // namespace walkhammer
