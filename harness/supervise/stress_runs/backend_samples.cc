// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/backend_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "harness/jvm/live/methods.h"
#include "harness/store/stress_rows.h"

namespace walkhammer {
namespace {

template <typename Number>
bool ReadNumber(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> Fields(std::string_view line) {
  std::vector<std::string_view> fields;
  for (size_t tab; (tab = line.find('\t')) != std::string_view::npos; line.remove_prefix(tab + 1))
    fields.push_back(line.substr(0, tab));
  fields.push_back(line);
  return fields;
}

// True if a thread may begin with this frame in a recording. The stack of a virtual thread ends
// with its continuation, and the JVM calls JFR's own classes.
bool BeginsThread(std::string_view frame) {
  return StartsThreads(frame) || frame.starts_with("jdk.internal.vm.Continuation.") ||
         frame.starts_with("jdk.jfr.internal.");
}

// True if callers are missing after enterSpecial: that stub calls Continuation.enter only.
bool HasGap(const std::vector<std::string_view>& frames) {
  return frames.size() > 1 && frames[0].starts_with("jdk.internal.vm.Continuation.enterSpecial(") &&
         !frames[1].starts_with("jdk.internal.vm.Continuation.enter(");
}

bool Has(std::string_view flags, char flag) { return flags.find(flag) != std::string_view::npos; }

const char* AnswerOf(std::string_view flags, const std::vector<std::string_view>& frames) {
  if (Has(flags, '-')) return "no-stack";
  if (Has(flags, 't')) return "truncated";
  if (Has(flags, 'u')) return "unknown-method";
  if (Has(flags, 'n')) return "frames";  // the outermost frame is native, e.g. thread_start
  if (frames.front() != kStackTableFull && !BeginsThread(frames.front())) return "cut-off";
  if (HasGap(frames)) return "gap";
  return Has(flags, 'b') ? "no-bci" : "frames";
}

// True for the frames that async-profiler writes for what it could not walk. Other frames in
// brackets are names of threads, libraries and scheduling policies.
bool TellsOfError(std::string_view frame) {
  static constexpr std::string_view kBegins[] = {"[unknown",          "[not_walkable",
                                                 "[break_",           "[GC_active]",
                                                 "[deoptimization]",  "[safepoint]",
                                                 "[skipped]",         "[stale_",
                                                 "[unexpected_state", "[storage_overflow]",
                                                 "[truncated]",       "[no_Java",
                                                 "[jvmtiErr",         "[error"};
  for (std::string_view begin : kBegins)
    if (frame.starts_with(begin)) return true;
  return false;
}

// Adds a line "stack COUNT EVENT FLAGS FRAMES"; false if it is malformed.
bool AddStackLine(const std::vector<std::string_view>& fields, BackendSamples& samples) {
  uint64_t count = 0;
  if (fields.size() != 5 || !ReadNumber(fields[1], count)) return false;
  const std::string_view flags = fields[3];
  std::vector<std::string_view> frames = SplitCollapsed(fields[4]);
  if (frames.empty() != Has(flags, '-')) return false;
  const std::string answer = AnswerOf(flags, frames);
  samples.samples += count;
  samples.answers[{std::string(fields[2]), answer}] += count;
  if (!frames.empty()) samples.successful += count;
  const bool whole = answer == "frames" || answer == "no-bci" || answer == "unknown-method";
  const std::string head = fmt::format("[jfr {}]", answer);
  if (!whole) frames.insert(frames.begin(), head);
  samples.stacks.Add(frames, count);
  return true;
}

// Adds a line "answer USER_DATA START_NS TID FLAGS"; false if it is malformed.
bool AddAnswerLine(const std::vector<std::string_view>& fields, BackendSamples& samples) {
  RequestAnswer answer{};
  if (fields.size() != 5 || !ReadNumber(fields[1], answer.user_data) ||
      !ReadNumber(fields[2], answer.start_ns) || !ReadNumber(fields[3], answer.tid))
    return false;
  answer.failed = Has(fields[4], 'f');
  answer.biased = Has(fields[4], 'b');
  samples.given.push_back(answer);
  return true;
}

}  // namespace

Status ReadBackText(std::istream& text, BackendSamples& samples) {
  uint64_t number = 0, timed = 0, period = 0;
  bool ended = false;
  for (std::string line; std::getline(text, line);) {
    const std::vector<std::string_view> fields = Fields(line);
    bool good = !ended;
    if (fields[0] == "stack") {
      good = good && AddStackLine(fields, samples);
    } else if (fields[0] == "answer") {
      good = good && AddAnswerLine(fields, samples);
    } else if (fields[0] == "frames" && fields.size() == 3) {
      good = good && ReadNumber(fields[1], number);
      samples.frames += number;
      good = good && ReadNumber(fields[2], number);
      samples.without_line += number;
    } else if (fields[0] == "timed" && fields.size() == 3) {
      good = good && ReadNumber(fields[1], timed) && ReadNumber(fields[2], period);
      samples.coalesced += std::max(period / kJfrCpuPeriodNs, timed) - timed;
    } else if (fields[0] == "lost" && fields.size() == 2) {
      good = good && ReadNumber(fields[1], number);
      samples.lost += number;
    } else if (fields[0] == "end" && fields.size() == 2) {
      ended = ReadNumber(fields[1], number);
      samples.events += number;
    } else {
      good = false;
    }
    if (!good) return ToolFailed("not as wh.recordings.ReadBack writes it: " + line.substr(0, 200));
  }
  return ended ? Ok() : Status(ToolFailed("wh.recordings.ReadBack did not write to the end"));
}

bool IsCollapsed(const std::string& first_line) {
  const size_t blank = first_line.rfind(' ');
  uint64_t count = 0;
  return blank != std::string::npos && blank != 0 &&
         ReadNumber(std::string_view(first_line).substr(blank + 1), count);
}

Status ReadCollapsed(std::istream& text, BackendSamples& samples) {
  uint64_t number = 0;
  for (std::string line; std::getline(text, line);) {
    number++;
    if (line.empty()) continue;
    if (!IsCollapsed(line) || text.eof())  // a complete file ends each line
      return Unable(
          fmt::format("line {} is not a collapsed stack: {}", number, line.substr(0, 100)));
    const size_t blank = line.rfind(' ');
    const auto frames = SplitCollapsed(std::string_view(line).substr(0, blank));
    uint64_t count = 0;
    ReadNumber(std::string_view(line).substr(blank + 1), count);
    std::string answer = "frames";
    bool framed = false;
    for (std::string_view frame : frames) {
      if (TellsOfError(frame)) answer = frame;
      framed = framed || frame.front() != '[';
    }
    samples.samples += count;
    if (framed) samples.successful += count;
    samples.answers[{"collapsed", answer}] += count;
    samples.stacks.Add(frames, count);
  }
  samples.events += number;
  return Ok();
}

BackendVerdict VerdictOf(const BackendSamples& samples, const SamplingBackend& backend) {
  BackendVerdict verdict;
  verdict.delivery = {.requested = samples.samples + samples.coalesced + samples.lost,
                      .delivered = samples.samples,
                      .coalesced = samples.coalesced,
                      .missed = samples.lost,
                      .walks = samples.samples,
                      .successful = samples.successful};
  verdict.stacks = samples.stacks;
  for (const auto& [kind, count] : samples.answers)
    verdict.counts.push_back({backend.name, "", kind.first, "", kind.second, count});
  if (samples.successful != 0) return verdict;
  verdict.status = CellStatus::kVacuous;
  verdict.reason = samples.samples == 0
                       ? "what it wrote holds no sample"
                       : fmt::format("none of its {} samples has a frame", samples.samples);
  return verdict;
}

}  // namespace walkhammer
