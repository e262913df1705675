// minimize: the smallest request with the same signature, each step verified by replay.
#include <fmt/format.h>

#include <memory>

#include "harness/base/duration.h"
#include "harness/cli/common.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/scratch.h"
#include "harness/cli/verb.h"
#include "harness/cli/walk_file.h"
#include "harness/record/crash_folder.h"
#include "harness/supervise/minimizer.h"
#include "harness/supervise/replay_run.h"

namespace walkhammer {
namespace {

struct Options {
  std::string file, out;
  std::vector<std::string> jdks;
  uint64_t times = 2, tries = 500;
  bool json = false;
};

// Replays `text`; the first Forbidden (else any) finding's signature, empty if it walks cleanly.
Result<std::string> SignatureIn(const std::string& text, const std::string& name,
                                const ChildSetup& setup, const std::string& wanted) {
  auto outcome = Replay({text, name}, setup);
  if (!outcome.ok()) return outcome.failure();
  std::string first;
  for (const FindingRecord& finding : outcome.value().findings) {
    if (!wanted.empty() && MatchesExpect(wanted, finding.signature) == Match::kExact) return wanted;
    if (first.empty() || finding.grade == Grade::kForbidden) first = finding.signature.expect;
  }
  return wanted.empty() ? first : std::string();
}

int RunMinimize(const Options& options, const std::vector<std::string>& jvm_flags) {
  auto jdks = OpenJdks(options.jdks);
  if (!jdks.ok()) return PrintFailure(jdks.failure());
  auto text = ReadWalkText(options.file);
  if (!text.ok()) return PrintFailure(text.failure());
  auto symbols = std::make_unique<SymbolTable>();
  symbols->Init();
  WalkFile file;
  (void)ParseText(text.value(), options.file, *symbols, file);
  ScratchFolder scratch;
  const ChildSetup setup{jdks.value().front().libjvm, jvm_flags, true, scratch.path()};

  auto signature = SignatureIn(text.value(), options.file, setup, "");
  if (!signature.ok()) return PrintFailure(signature.failure());
  if (signature.value().empty())
    return PrintFailure(BadInput(options.file + " walks without a finding on " +
                                 jdks.value().front().home + ": there is nothing to minimise"));
  const auto same = [&](const WalkRequest& candidate) {
    const std::string walk = ToText({candidate, ""}, *symbols);
    for (uint64_t i = 0; i < options.times && !Interrupted().load(); i++) {
      auto seen = SignatureIn(walk, options.file, setup, signature.value());
      if (!seen.ok() || seen.value().empty()) return false;
    }
    return !Interrupted().load();
  };
  const Minimized small = Minimize(file.request, same, static_cast<int>(options.tries));
  const std::string walk = ToText({small.request, signature.value()}, *symbols);
  if (!options.out.empty()) {
    Status written = WriteFileAtomically(options.out, walk);
    if (!written.ok()) return PrintFailure(written.failure());
  }
  if (options.json) {
    PrintJson({{"schema", 1},
               {"signature", signature.value()},
               {"edits_before", file.request.edit_count},
               {"edits", small.request.edit_count},
               {"tried", small.tried},
               {"text", walk}});
  } else {
    fmt::print("{}", walk);
    fmt::print(stderr, "walkhammer: {} edits became {}, {} requests tried\n",
               file.request.edit_count, small.request.edit_count, small.tried);
  }
  return static_cast<int>(ExitCode::kFindings);
}

}  // namespace

void AddMinimize(CLI::App& app, Invocation& chosen) {
  CLI::App* verb = app.add_subcommand("minimize", "The smallest request with the same signature");
  auto o = std::make_shared<Options>();
  verb->add_option("file", o->file, ".walk file")->required();
  AddJdkOption(*verb, o->jdks);
  verb->add_option("--out", o->out, "Also write it here");
  AddCountOption(*verb, "--times", o->times, "Replays that each step must survive (default 2)");
  AddCountOption(*verb, "--tries", o->tries, "Most requests to try (default 500)");
  AddJsonFlag(*verb, o->json);
  verb->footer("JVM flags follow after --.");
  verb->callback([&chosen, o] {
    chosen.takes_jvm_flags = true;
    chosen.run = [&chosen, o] { return RunMinimize(*o, chosen.jvm_flags); };
  });
}

}  // namespace walkhammer
