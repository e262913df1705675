// SPDX-License-Identifier: Apache-2.0
#include "harness/supervise/stress_runs/cell_status_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/duration.h"
#include "harness/findings/witness_findings.h"
#include "harness/oracles/oracle.h"

namespace walkhammer {

std::string StepText(const StressState& state) {
  const double seconds = static_cast<double>(state.step_ns.load()) / 1e9;
  std::string words = "a sample at every instruction of one thread";
  if (seconds > 0)
    words += fmt::format("; {} windows, {}{}", state.step_windows.load(),
                         FormatRate(static_cast<double>(state.steps.load()) / seconds),
                         state.job.step == kStepByPtrace ? "" : " of its CPU time");
  return words;
}

std::string Remarks(const StressState& state) {
  std::string text;
  auto remark = [&](uint64_t count, const char* words) {
    if (count != 0) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", count, words);
  };
  remark(state.shadow_checked, "samples compared with the program's own stack");
  remark(state.truth_checked, "compared with JVMTI");
  remark(WitnessedAnswers(state, 0), ("compared with the witness" + WitnessShares(state)).c_str());
  remark(state.unarmed, "threads could not be armed");
  remark(state.dropped_findings, "findings found no room");
  remark(state.untracked, "signals met threads that are not tracked");
  uint64_t no_walk_slot = 0;
  for (const ThreadCounts& counts : state.threads) no_walk_slot += counts.no_walk_slot.load();
  remark(no_walk_slot, "samples found no free walk slot");
  remark(state.abandoned, "samples waited for a walk and got none");
  return text;
}

namespace {

// Which of the agent's own means were in force; none before the agent samples.
std::vector<NoteRow> AgentNotes(const StressState& state, int64_t cell) {
  std::vector<NoteRow> notes;
  const AgentPhase phase = state.phase.load();
  if (phase < AgentPhase::kSampling || phase == AgentPhase::kUnable) return notes;
  const auto note = [&](const char* name, const std::string& lack) {
    notes.push_back(
        {cell, lack.empty() ? NoteKind::kInForce : NoteKind::kNotInForce, name, 0, lack});
  };
  for (const std::string_view oracle : OracleNames(state.job.without))
    note(fmt::format("oracle {}", oracle).c_str(),
         "--without-oracle: nothing that it would find was looked for");
  if (state.job.step == 0 && !state.job.no_walk) notes.push_back(TruthNote(state, cell));
  if (state.job.uncontained != 0) {
    note("guard",
         "--no-guard: a crash of a walk ends the program; hangs and calls that are not "
         "signal-safe are not seen");
    return notes;
  }
  const std::string reason = FieldText(state.not_interposed);
  note("interposition",
       reason.empty() ? "" : reason + ": the oracle signal-safety does not see such calls");
  note("hang detection",
       state.unwatched_slots == 0
           ? ""
           : fmt::format("{} of {} walk slots are not watched", state.unwatched_slots, kWalkSlots));
  const uint64_t foreign = state.foreign_stacks.load();
  note("stack overflow",
       foreign == 0 ? ""
                    : fmt::format("{} samples were walked on a signal stack that the program had, "
                                  "and whose overflow would not be contained",
                                  foreign));
  if (state.undescribed != 0)
    note("vmStructs",
         "this JVM has none: thread states, anchors and kinds of generated code are not known. "
         "Writes to the stack are not seen, and no sample can be replayed. Threads that were there "
         "before the agent are not sampled as Java threads");
  if (state.job.step != 0)
    note("stepped shadow stack",
         state.follows_calls != 0
             ? ""
             : "calls leave their return address in a register here, and are not followed");
  return notes;
}

}  // namespace

NoteRow TruthNote(const StressState& state, int64_t cell) {
  if (state.shadow_checked.load() + state.truth_checked.load() + WitnessedAnswers(state, 0) >=
      kLeastWalks)
    return {cell, NoteKind::kInForce, kTruthNote, 0, ""};
  const std::string why = FieldText(state.no_witness);
  return {cell, NoteKind::kNotInForce, kTruthNote, 0,
          "only crashes, hangs and errors were judged" +
              (why.empty() ? "" : "; the witness cannot be asked: " + why)};
}

std::vector<NoteRow> CellNotes(const StressState& state, int64_t cell, uint64_t dropped_stacks) {
  std::vector<NoteRow> notes = AgentNotes(state, cell);
  const auto dropped = [&](const char* name, uint64_t count, const char* detail) {
    if (count != 0) notes.push_back({cell, NoteKind::kDropped, name, count, detail});
  };
  dropped("findings", state.dropped_findings.load(), "there was no room for them");
  dropped("stacks", dropped_stacks, "the picture has no room for their newest frames");
  return notes;
}

NoteRow StallNote(uint64_t times, std::chrono::nanoseconds longest) {
  return {kNoCell, NoteKind::kIncident, "supervisor stalls", times,
          fmt::format("at most {} ms, in which no cell was watched",
                      std::chrono::duration_cast<std::chrono::milliseconds>(longest).count())};
}

std::string JvmComplaint(const std::string& output) {
  for (const char* words : {"Unrecognized VM option", "Error: VM option", "Conflicting collector",
                            "is not supported", "Unsupported", "Error occurred during init",
                            "Could not find or load main class", "Invalid "}) {
    const size_t at = output.find(words);
    if (at == std::string::npos) continue;
    const size_t begin =
        output.rfind('\n', at) == std::string::npos ? 0 : output.rfind('\n', at) + 1;
    return output.substr(begin, std::min<size_t>(output.find('\n', at), begin + 300) - begin);
  }
  return "";
}

bool NeverRan(const std::string& output) {
  return output.find("Error occurred during initialization of VM") != std::string::npos ||
         output.find("Could not create the Java Virtual Machine") != std::string::npos;
}

namespace {

// The line above the last "\tat FRAME" lines of an output, as far as 300 bytes; empty if there is
// no such line above `before`.
std::string TraceMessage(const std::string& output, size_t before) {
  size_t at = output.rfind("\n\tat ");
  if (at == std::string::npos) return "";
  size_t begin = at;
  do {
    at = begin;  // the end of a line
    begin = at == 0 ? std::string::npos : output.rfind('\n', at - 1);
  } while (begin != std::string::npos && output.compare(begin, 5, "\n\tat ") == 0);
  begin = begin == std::string::npos ? 0 : begin + 1;
  return begin < before ? output.substr(begin, std::min<size_t>(at - begin, 300)) + "\n" : "";
}

}  // namespace

std::string LastLines(const std::string& output) {
  const size_t begin = output.size() - std::min<size_t>(output.size(), 300);
  std::string text = TraceMessage(output, begin) + output.substr(begin);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

}  // namespace walkhammer
