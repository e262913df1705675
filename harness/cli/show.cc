// SPDX-License-Identifier: Apache-2.0
// show: a request in canonical text form and in words.

#include <memory>
#include <nlohmann/json.hpp>

#include "harness/base/print.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/walk_file.h"
#include "harness/findings/explain.h"
#include "harness/request/binary_form.h"
#include "harness/request/text_form.h"

namespace walkhammer {
namespace {

struct Options {
  std::vector<std::string> files;
  bool json = false;
};

int RunShow(const Options& options) {
  nlohmann::json all = nlohmann::json::array();
  for (const std::string& path : options.files) {
    auto text = ReadWalkText(path);
    if (!text.ok()) return PrintFailure(text.failure());
    auto symbols = std::make_unique<SymbolTable>();
    symbols->Init();
    WalkFile file;
    (void)ParseText(text.value(), path, *symbols, file);
    const std::string canonical = ToText(file, *symbols);
    const std::string words = ExplainRequest(file.request, *symbols);
    const std::string_view realism = RealismWord(RealismOf(file.request));
    if (options.json) {
      all.push_back({{"file", path},
                     {"text", canonical},
                     {"explanation", words},
                     {"realism", realism},
                     {"expect", file.expect},
                     {"binary_bytes", EncodeBinary(file.request, *symbols).size()}});
      continue;
    }
    Print(stdout, "{}{}\n{}", options.files.size() > 1 ? "# " + path + "\n" : "", canonical, words);
    Print(stdout, "realism: {}\n", realism);
  }
  if (options.json) PrintJson({{"schema", 1}, {"requests", all}});
  return 0;
}

}  // namespace

void AddShow(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "show", "A request in canonical form and in words");
  auto o = std::make_shared<Options>();
  verb.Argument("files", o->files, ".walk files");
  verb.Json(o->json);
  verb.Runs(chosen, [o] { return RunShow(*o); });
}

}  // namespace walkhammer
