// SPDX-License-Identifier: Apache-2.0
#include "harness/crash/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "harness/base/numbers.h"
#include "harness/base/text.h"
#include "harness/crash/shapes.h"
#include "harness/crash/walk_text.h"
#include "harness/request/scene_table.h"
#include "harness/request/walk_request.h"

namespace walkhammer {
namespace {

// The context that was walked when the crash came, rebuilt from what a report shows below the
// signal frame: the registers of a report are those of the crash inside the walker.
struct WalkedContext {
  std::string what;  // "compiled code of a.B.run()V on top, frames of 32 bytes"
  WalkText walk;
};

constexpr size_t kMostFrames = 24;  // walkers that crash do so early
constexpr int32_t kInterpretedBytes = 0xc0;
constexpr int32_t kFpInInterpreted = 0x80;  // from the frame's lowest slot
constexpr int kDefaultFeature = 17;

// Bytes of a compiled frame with return address, which no report tells; usual ones.
constexpr int32_t kFrameBytes[] = {0x30, 0x20, 0x50};

std::string Line(const CrashFrame& frame) {
  return fmt::format("line {}: {}", frame.line, frame.text);
}

// The pc of a frame, as a value; an empty text if the report does not name its code.
std::string PcOf(const CrashFrame& frame, Confidence& confidence) {
  constexpr uint64_t kSomewhere = 0x20;
  confidence = frame.symbol_offset ? Confidence::kExact : Confidence::kGuess;
  const uint64_t offset = frame.symbol_offset.value_or(kSomewhere);
  switch (frame.kind) {
    case CrashFrameKind::kCompiled:
      return NamedValue("nmethod", frame.symbol, offset);
    case CrashFrameKind::kInterpreted:
      confidence = Confidence::kGuess;
      return CallCodelet();
    case CrashFrameKind::kStub: {
      std::string name = frame.symbol;
      if (name.starts_with("StubRoutines::")) name.erase(0, 14);
      return NamedValue("stub", name, offset);
    }
    case CrashFrameKind::kNative:
    case CrashFrameKind::kVm:
      if (frame.module.empty()) return "";
      confidence = frame.module_offset ? Confidence::kExact : Confidence::kGuess;
      return NamedValue("library", frame.module, frame.module_offset.value_or(kSomewhere));
    default:
      return "";
  }
}

bool IsInterpreted(const CrashFrame& frame) { return frame.kind == CrashFrameKind::kInterpreted; }

int32_t BytesOf(const CrashFrame& frame, int32_t compiled) {
  return IsInterpreted(frame) ? kInterpretedBytes : compiled;
}

// Slot to which the frame's fp points, if the frame begins at `low`: compiled frames end in link
// and return address.
int32_t FpOf(const CrashFrame& frame, int32_t low, int32_t compiled) {
  return low + (IsInterpreted(frame) ? kFpInInterpreted : compiled - 0x10);
}

void WriteFrame(const CrashFrame& frame, int32_t fp, int32_t caller_fp,
                const std::string& caller_pc, int feature, WalkText& walk) {
  if (IsInterpreted(frame)) {
    InterpretedFrame forged{fp, caller_fp, NamedValue("method", frame.symbol), "", "",
                            "", caller_pc};
    forged.bcp = NamedValue("bytecodes", frame.symbol,
                            static_cast<uint64_t>(std::max(frame.bci.value_or(0), 0)));
    WriteInterpreted(forged, feature, walk);
    return;
  }
  walk.Word(fp, StackValue(caller_fp));
  walk.Word(fp + 8, caller_pc);
}

// Writes the frames, the youngest at kForgedSp, and sets pc, sp and fp.
void WriteFrames(const std::vector<CrashFrame>& frames, int32_t compiled, int feature,
                 WalkText& walk) {
  int32_t low = kForgedSp;
  Confidence confidence{};
  const std::string top = PcOf(frames.front(), confidence);
  walk.Set("pc", top);
  walk.Note("pc", confidence, Line(frames.front()));
  walk.Set("sp", StackValue(low + (IsInterpreted(frames.front()) ? kFpInInterpreted - 0x60 : 0)));
  walk.Set("fp", StackValue(FpOf(frames.front(), low, compiled)));
  for (size_t i = 0; i < frames.size(); i++) {
    const int32_t next = low + BytesOf(frames[i], compiled);
    const bool is_last = i + 1 == frames.size();
    const int32_t caller_fp = is_last ? next + 0x100 : FpOf(frames[i + 1], next, compiled);
    Confidence ignored{};
    const std::string caller_pc = is_last ? CallCodelet() : PcOf(frames[i + 1], ignored);
    WriteFrame(frames[i], FpOf(frames[i], low, compiled), caller_fp, caller_pc, feature, walk);
    low = next;
  }
}

// The frames that have a place on a Java stack: Java methods and stubs that the report names. Where
// Java code begins is what walkers look for.
std::vector<CrashFrame> NamedFrames(const CrashedChain& chain) {
  std::vector<CrashFrame> frames;
  for (const CrashFrame& frame : chain.interrupted) {
    Confidence ignored{};
    const bool is_generated = frame.is_java() || frame.kind == CrashFrameKind::kStub;
    if (!is_generated || frame.symbol.empty() || PcOf(frame, ignored).empty()) continue;
    frames.push_back(frame);
    if (frames.size() == kMostFrames) break;
  }
  return frames;
}

// The word of .walk files for a thread state of a log ("_thread_in_Java"); empty: no such state.
std::string StateWordOf(const std::string& state) {
  for (int i = 0; i < 256; i++) {
    const char* word = StateWord(static_cast<uint8_t>(i));
    if (word != nullptr && state == std::string("_thread_") + word) return word;
  }
  return "";
}

// One request for each assumption about what the report does not show (the size of compiled
// frames), the likeliest first; none if the report shows no Java frame.
std::vector<WalkedContext> WalkedContextsOf(const CrashReport& report, const CrashedChain& chain,
                                            const std::string& walker) {
  std::vector<WalkedContext> contexts;
  const std::vector<CrashFrame> frames = NamedFrames(chain);
  if (frames.empty()) return contexts;
  const int feature =
      report.version.feature.known() ? report.version.feature.value : kDefaultFeature;
  const std::string state = StateWordOf(report.thread.state);
  const bool has_compiled = std::any_of(frames.begin(), frames.end(),
                                        [](const auto& frame) { return !IsInterpreted(frame); });
  for (const int32_t bytes : kFrameBytes) {
    WalkText walk(walker, kSampledScene);
    walk.Set("state", state.empty() ? "in_Java" : state);
    walk.Note("state", state.empty() ? Confidence::kGuess : Confidence::kExact,
              state.empty() ? "the report tells none"
                            : fmt::format("line {}: {}", report.thread.line, report.thread.state));
    WriteFrames(frames, bytes, feature, walk);
    walk.Note("stack", Confidence::kLikely,
              fmt::format("{} frames of the report, laid out as HotSpot does", frames.size()));
    if (has_compiled)
      walk.Note("frame sizes", Confidence::kGuess,
                fmt::format("each compiled frame has {} bytes", bytes));
    if (!state.empty() && state != "in_Java") {
      walk.Set("anchor", "custom");
      walk.Set("anchor-sp", StackValue(kForgedSp));
      Confidence confidence{};
      walk.Set("anchor-pc", PcOf(frames.front(), confidence));
      walk.Set("anchor-fp", StackValue(FpOf(frames.front(), kForgedSp, bytes)));
      walk.Note("anchor", Confidence::kLikely, "the thread was not in Java: the last Java frame");
    }
    contexts.push_back(
        {fmt::format("the {} that the report shows{}", Counted(frames.size(), "frame"),
                     has_compiled ? fmt::format(", the compiled ones of {} bytes", bytes) : ""),
         walk});
    if (!has_compiled) break;
  }
  return contexts;
}

constexpr int kKnownExactRank = 95;
constexpr int kKnownFunctionRank = 90;
constexpr int kContextRank = 70;  // minus what each further assumption costs
constexpr int kAssumptionCost = 5;

// Comment and expect lines of a .walk text, as far as candidates need them.
std::string WithoutCommentsAndExpect(const std::string& text) {
  std::string kept;
  for (const std::string& line : Split(text, '\n')) {
    const std::string_view trimmed = Trim(line);
    if (trimmed.empty() || trimmed.starts_with('#') || trimmed.starts_with("expect ")) continue;
    kept += line + "\n";
  }
  return kept;
}

std::string ExpectOf(const std::string& text) {
  for (const std::string& line : Split(text, '\n'))
    if (line.starts_with("expect ")) return std::string(Trim(std::string_view(line).substr(7)));
  return "";
}

std::string OneLine(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return text;
}

CrashCandidate Finished(CandidateSource source, std::string what, int rank,
                        std::vector<FieldNote> fields, const std::string& body,
                        const CrashTarget& target) {
  CrashCandidate candidate{std::move(what), rank, std::move(fields), "", source};
  candidate.text = "# " + OneLine(candidate.what) + "\n";
  for (const FieldNote& note : candidate.fields)
    candidate.text += OneLine(fmt::format("# {}: {}, {}", note.field,
                                          ConfidenceWord(note.confidence), note.why)) +
                      "\n";
  candidate.text += body;
  if (!target.expect.empty()) candidate.text += "expect " + OneLine(target.expect) + "\n";
  return candidate;
}

void AddKnown(const std::vector<BugRequest>& known, const CrashTarget& target,
              std::vector<CrashCandidate>& candidates) {
  std::set<std::string> bodies;  // the same input may be kept for several JDKs
  for (const BugRequest& input : known) {
    const std::string expect = ExpectOf(input.text);
    const Closeness closeness = Compare(target, expect, "");
    if (closeness < Closeness::kFunction) continue;
    const std::string body = WithoutCommentsAndExpect(input.text);
    if (!bodies.insert(body).second) continue;
    const bool exact = closeness == Closeness::kExact;
    std::vector<FieldNote> notes = {{"all", exact ? Confidence::kLikely : Confidence::kGuess,
                                     "a known input that shows " + expect}};
    candidates.push_back(Finished(CandidateSource::kKnownInput, "the known input " + input.file,
                                  exact ? kKnownExactRank : kKnownFunctionRank, std::move(notes),
                                  body, target));
  }
}

// Shapes that go with the function; also others, where the walker to blame is known.
void AddShapes(const CrashReport& report, const CrashTarget& target, const std::string& walker,
               bool is_guilty, std::vector<CrashCandidate>& candidates) {
  constexpr int kFitOfAny = 15;
  for (const ShapedWalk& shaped : ShapesFor(report, target, walker))
    if (is_guilty || shaped.fit > kFitOfAny)
      candidates.push_back(Finished(CandidateSource::kShape, shaped.what, shaped.fit,
                                    shaped.walk.notes(), shaped.walk.Text(), target));
}

}  // namespace

const char* CandidateSourceText(CandidateSource source) {
  static constexpr const char* kTexts[] = {"the report's own input", "a known input of walkhammer",
                                           "a synthetic shape for this function"};
  return kTexts[static_cast<int>(source)];
}

std::vector<CrashCandidate> CandidatesOf(const CrashReport& report, const CrashedChain& chain,
                                         const GuiltVerdict& guilt, const CrashTarget& target,
                                         const std::vector<BugRequest>& known,
                                         const std::string& walker, size_t most) {
  std::vector<CrashCandidate> candidates;
  const bool is_told = report.pc.known() || !chain.calls.empty() || !chain.interrupted.empty();
  if (!is_told || report.vm == CrashVm::kOpenJ9) return candidates;
  AddKnown(known, target, candidates);
  int rank = kContextRank;
  for (const WalkedContext& context : WalkedContextsOf(report, chain, walker)) {
    candidates.push_back(Finished(CandidateSource::kReport, context.what, rank,
                                  context.walk.notes(), context.walk.Text(), target));
    rank -= kAssumptionCost;
  }
  AddShapes(report, target, walker, guilt.guilt == Guilt::kWalker, candidates);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.rank > b.rank; });
  if (candidates.size() > most) candidates.resize(most);
  return candidates;
}

}  // namespace walkhammer
