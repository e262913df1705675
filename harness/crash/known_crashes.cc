// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/known_crashes.h"

#include <algorithm>

#include "harness/base/text.h"
#include "harness/jvm/images/jdk_version.h"

namespace walkhammer {
namespace {

constexpr KnownCrash kBugs[] = {
    {"JDK-8283849", "a zombie nmethod that the code cache's lookup meets ends the JVM",
     "CodeCache::find_blob", "unsafe access to zombie", "AsyncGetCallTrace", "", "", false, 1},
    {"JDK-8352649", "the flag \"in AsyncGetCallTrace\" is written and tested at two places",
     "CodeCache::find_blob", "is_in_asgct", "AsyncGetCallTrace", "", "", false, 1},
    {"JDK-8265150", "a stack trace without a resource mark frees memory that is in use",
     "Chunk::next_chop|ResourceArea::", "", "JVMTI GetStackTrace", "", "", false, 15},
    {"JDK-8329103", "a nested walk resets the flag \"in AsyncGetCallTrace\"", "", "in_asgct",
     "AsyncGetCallTrace", "", "", true, 2},
    {"JDK-8282477", "the anchor is made walkable twice", "JavaFrameAnchor::make_walkable",
     "already walkable", "", "", "", true, 3},
    {"JDK-8282200", "a thread that has ended is walked", "", "ShouldNotReachHere",
     "AsyncGetCallTrace", "", "", false, 4},
    {"JDK-8313796", "the slot of an interpreted frame's Method cannot be read",
     "frame::interpreter_frame_method|frame::is_interpreted_frame_valid|Method::is_valid_method",
     "", "AsyncGetCallTrace", "", "", false, 5},
    {"JDK-8315380", "safe_for_sender does not test the lower bound of unextended_sp",
     "frame::safe_for_sender", "", "", "", "aarch64", false, 6},
    {"JDK-8297967", "a frame pointer leads into the guard pages of the stack",
     "frame::safe_for_sender|frame::is_interpreted_frame_valid", "", "", "", "", false, 7},
    {"JDK-8382486", "safe_for_sender accepts a sender that is not older", "frame::sender",
     "is_older", "", "", "", true, 8},
    {"JDK-8304725", "a walk writes a cache in write-protected memory",
     "PcDescCache::add_pc_desc|PcDescContainer::find_pc_desc_internal", "", "AsyncGetCallTrace", "",
     "aarch64", false, 9},
    {"JDK-8388072", "a signed and a raw return address meet when a virtual thread thaws",
     "Thaw|FreezeBase|ThawBase", "", "", "", "aarch64", false, 10},
    {"JDK-8313816", "a jmethodID outlives its method",
     "Method::checked_resolve_jmethod_id|Method::resolve_jmethod_id|JNIMethodBlock", "", "", "", "",
     false, 16},
    {"JDK-8357962", "PopFrame leaves an interpreted frame that no walker understands",
     "JfrVframeStream|JfrStackTrace::record|frame::interpreter_frame_bci", "", "JFR", "", "", false,
     18},
    {"JDK-8392187", "JFR's CPU-time sampler uses freed memory when a recording ends",
     "JfrCPUTimeThreadSampler|JfrCPUTimeTraceQueue|handle_timer_signal", "",
     "JFR's CPU-time sampler", "[25,28-ea)", "", false, 0},
    {"JDK-8385651", "the hot-code sampler and JFR suspend the same thread",
     "SuspendedThreadTask|JfrThreadSampl", "suspended", "JFR", "[27,28-ea)", "", false, 18},
};

bool MatchesFunction(const KnownCrash& bug, const CrashTarget& target) {
  if (bug.functions[0] == 0) return false;
  for (const std::string& name : Split(bug.functions, '|')) {
    if (target.function.starts_with(name)) return true;
    for (const std::string& caller : target.callers)
      if (caller.starts_with(name)) return true;
  }
  return false;
}

bool IsOfThisBuild(const KnownCrash& bug, const CrashReport& report) {
  const std::string& level = report.version.debug_level.value;
  if (bug.debug_only && (level.empty() || level == "release")) return false;
  return bug.arch[0] == 0 || report.arch == CrashArch::kAarch64;
}

}  // namespace

std::span<const KnownCrash> AllKnownCrashes() { return kBugs; }

Affected AffectedByCrash(const KnownCrash& bug, const std::vector<KnownBug>& folders,
                         const CrashVersion& crashed) {
  const std::string& text = crashed.jdk.told() ? crashed.jdk.value : crashed.vm_version.value;
  const auto version = ParseJdkVersion(text);
  if (!version) return Affected::kUnknown;
  // Up to JDK 8 the VM counts versions of its own: "25.504-b01".
  if (crashed.feature.told() && static_cast<int>(version->numbers[0]) != crashed.feature.value)
    return Affected::kUnknown;
  for (const KnownBug& folder : folders)
    if (folder.id == bug.id) return AffectedByVersion(folder, text);
  const auto ranges = ParseVersionRanges(bug.affected);
  const bool is_affected = ranges.ok() && AnyContains(ranges.value(), *version);
  return is_affected ? Affected::kYes : Affected::kUnknown;
}

std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target,
                                        const std::vector<KnownBug>& folders) {
  std::vector<Resemblance> found;
  if (guilt.guilt == Guilt::kNone) return found;
  for (const KnownCrash& bug : kBugs) {
    if (!IsOfThisBuild(bug, report)) continue;
    if (guilt.pattern != nullptr && !std::string_view(guilt.pattern->whose).starts_with(bug.walker))
      continue;
    const bool by_check =
        bug.check[0] != 0 && report.internal.text.find(bug.check) != std::string::npos;
    // A bug with a check of its own shows that check, where the JVM stopped by itself.
    if (!by_check && (!target.check.empty() || !MatchesFunction(bug, target))) continue;
    found.push_back({&bug, AffectedByCrash(bug, folders, report.version), by_check});
  }
  const auto rank = [](const Resemblance& of) {
    constexpr int kRanks[] = {2, 0, 1};  // kNo, kYes, kUnknown
    return 3 * (of.by_check ? 0 : 1) + kRanks[static_cast<int>(of.affected)];
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Resemblance& a, const Resemblance& b) { return rank(a) < rank(b); });
  return found;
}

}  // namespace walkhammer
