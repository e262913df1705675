// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/known_bugs.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "harness/base/text.h"

namespace walkhammer {
namespace {

// Versions: as corpora/known-bugs and docs/jdk-support.md have measured them. A release that nobody
// has looked at is in neither list.
constexpr KnownCrash kBugs[] = {
    {"JDK-8283849", "a zombie nmethod that the code cache's lookup meets ends the JVM",
     "CodeCache::find_blob", "unsafe access to zombie", "AsyncGetCallTrace",
     "11.0.5-11.0.13,17.0.2-17.0.3", "17.0.7,18", "", false, 1},
    {"JDK-8352649", "the flag \"in AsyncGetCallTrace\" is written and tested at two places",
     "CodeCache::find_blob", "is_in_asgct", "AsyncGetCallTrace", "17.0.15,11.0.33", "17.0.19,21",
     "", false, 1},
    {"JDK-8265150", "a stack trace without a resource mark frees memory that is in use",
     "Chunk::next_chop|ResourceArea::", "", "JVMTI GetStackTrace", "17.0.2", "17.0.3", "", false,
     15},
    {"JDK-8329103", "a nested walk resets the flag \"in AsyncGetCallTrace\"", "", "in_asgct",
     "AsyncGetCallTrace", "", "", "", true, 2},
    {"JDK-8282477", "the anchor is made walkable twice", "JavaFrameAnchor::make_walkable",
     "already walkable", "", "", "", "", true, 3},
    {"JDK-8282200", "a thread that has ended is walked", "", "ShouldNotReachHere",
     "AsyncGetCallTrace", "", "", "", false, 4},
    {"JDK-8313796", "the slot of an interpreted frame's Method cannot be read",
     "frame::interpreter_frame_method|frame::is_interpreted_frame_valid|Method::is_valid_method",
     "", "AsyncGetCallTrace", "", "", "", false, 5},
    {"JDK-8315380", "safe_for_sender does not test the lower bound of unextended_sp",
     "frame::safe_for_sender", "", "", "", "", "aarch64", false, 6},
    {"JDK-8297967", "a frame pointer leads into the guard pages of the stack",
     "frame::safe_for_sender|frame::is_interpreted_frame_valid", "", "", "", "", "", false, 7},
    {"JDK-8382486", "safe_for_sender accepts a sender that is not older", "frame::sender",
     "is_older", "", "", "", "", true, 8},
    {"JDK-8304725", "a walk writes a cache in write-protected memory",
     "PcDescCache::add_pc_desc|PcDescContainer::find_pc_desc_internal", "", "AsyncGetCallTrace", "",
     "", "aarch64", false, 9},
    {"JDK-8388072", "a signed and a raw return address meet when a virtual thread thaws",
     "Thaw|FreezeBase|ThawBase", "", "", "", "", "aarch64", false, 10},
    {"JDK-8313816", "a jmethodID outlives its method",
     "Method::checked_resolve_jmethod_id|Method::resolve_jmethod_id|JNIMethodBlock", "", "", "", "",
     "", false, 16},
    {"JDK-8357962", "PopFrame leaves an interpreted frame that no walker understands",
     "JfrVframeStream|JfrStackTrace::record|frame::interpreter_frame_bci", "", "JFR", "", "", "",
     false, 18},
    {"JDK-8392187", "JFR's CPU-time sampler uses freed memory when a recording ends",
     "JfrCPUTimeThreadSampler|JfrCPUTimeTraceQueue|handle_timer_signal", "",
     "JFR's CPU-time sampler", "25-27", "", "", false, 0},
    {"JDK-8385651", "the hot-code sampler and JFR suspend the same thread",
     "SuspendedThreadTask|JfrThreadSampl", "suspended", "JFR", "27", "", "", false, 18},
};

// Up to four numbers, "17.0.15.1"; missing ones are 0.
using Version = std::array<int, 4>;

Version VersionOf(std::string_view text, size_t* numbers = nullptr) {
  Version version{};
  if (text.starts_with("1.8.0_")) {  // "1.8.0_492" is 8.0.492
    version[0] = 8;
    std::from_chars(text.data() + 6, text.data() + text.size(), version[2]);
    return version;
  }
  size_t count = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (count < version.size() && at < end) {
    const auto [next, error] = std::from_chars(at, end, version[count]);
    if (error != std::errc()) break;
    count++;
    if (next == end || *next != '.') break;
    at = next + 1;
  }
  if (numbers != nullptr) *numbers = count;
  return version;
}

// True if `version` is in "17.0.2-17.0.3", "17.0.15" or "25-27", where 27 stands for all 27.x.
bool IsInRange(const Version& version, std::string_view range) {
  const size_t dash = range.find('-');
  const Version first = VersionOf(range.substr(0, dash));
  size_t numbers = 0;
  Version last =
      VersionOf(dash == std::string_view::npos ? range : range.substr(dash + 1), &numbers);
  for (size_t i = numbers; i < last.size(); i++) last[i] = INT32_MAX;
  return version >= first && version <= last;
}

// A fix counts for its own line of releases, and for newer lines if it names a whole line: "17.0.7"
// says nothing of 21.
bool IsFixedIn(const Version& version, std::string_view fixed) {
  size_t numbers = 0;
  const Version from = VersionOf(fixed, &numbers);
  if (numbers == 1) return version >= from;
  return version[0] == from[0] && version >= from;
}

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

VersionFit FitOf(const KnownCrash& bug, std::string_view version) {
  const Version crashed = VersionOf(version);
  if (crashed[0] == 0) return VersionFit::kNotKnown;
  for (const std::string& range : Split(bug.affected, ','))
    if (IsInRange(crashed, range)) return VersionFit::kAffected;
  for (const std::string& fixed : Split(bug.fixed, ','))
    if (IsFixedIn(crashed, fixed)) return VersionFit::kFixed;
  return VersionFit::kNotKnown;
}

std::vector<Resemblance> ResemblancesOf(const CrashReport& report, const GuiltVerdict& guilt,
                                        const CrashTarget& target) {
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
    const std::string& version =
        report.version.jdk.told() ? report.version.jdk.value : report.version.vm_version.value;
    found.push_back({&bug, FitOf(bug, version), by_check});
  }
  const auto rank = [](const Resemblance& of) {
    return 3 * (of.by_check ? 0 : 1) + static_cast<int>(of.version);
  };
  std::stable_sort(found.begin(), found.end(),
                   [&](const Resemblance& a, const Resemblance& b) { return rank(a) < rank(b); });
  return found;
}

}  // namespace walkhammer
