// SPDX-License-Identifier: Apache-2.0
// doctor: what this machine and each JDK can do, what is missing, and the command that fixes it.
#include "harness/cli/doctor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "harness/base/names.h"
#include "harness/base/print.h"
#include "harness/cli/identity.h"
#include "harness/cli/options.h"
#include "harness/cli/print_json.h"
#include "harness/cli/scene_probe.h"
#include "harness/cli/terminal.h"
#include "harness/jvm/structs/safefetch_source.h"
#include "harness/layout_check/proof.h"
#include "harness/process/scratch.h"
#include "harness/process/spawn.h"

namespace walkhammer {
namespace {

using nlohmann::json;

// Adds something that is not as it should be. `what`: one sentence without its full stop; `fix`:
// the command or step that fixes it; `needed`: without it nothing can be fuzzed, here or on that
// JDK.
void AddLack(json& lacks, const std::string& what, const std::string& fix, bool needed) {
  lacks.push_back({{"what", what}, {"fix", fix}, {"needed", needed}});
}

bool AnyNeeded(const json& lacks) {
  return std::any_of(lacks.begin(), lacks.end(),
                     [](const json& lack) { return lack["needed"].get<bool>(); });
}

std::string FirstLine(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Returns 0 if a perf event on this thread's CPU clock may be opened, else the errno.
int TryPerfEvent() {
  perf_event_attr attributes = {};
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.disabled = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  const auto fd =
      static_cast<int>(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

json Machine(json& lacks) {
  utsname names = {};
  uname(&names);
  const auto pages = static_cast<uint64_t>(std::max(0L, sysconf(_SC_PHYS_PAGES)));
  const auto page_size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const int perf_error = TryPerfEvent();
  const bool aslr_control = CanSwitchAslrOff();
  const std::string paranoid = FirstLine("/proc/sys/kernel/perf_event_paranoid");
  if (perf_error != 0)
    AddLack(
        lacks,
        fmt::format("perf events are not permitted ({}), so samples come at the rate of slower "
                    "timers",
                    std::strerror(perf_error)),
        "sysctl kernel.perf_event_paranoid=1; in a container, start that with --cap-add PERFMON",
        false);
  if (!aslr_control)
    AddLack(lacks, "address space randomisation cannot be switched off for the child",
            "in a container, start that with --security-opt seccomp=unconfined", false);
  json machine = {{"cpu", CpuModel()},
                  {"arch", names.machine},
                  {"cores", std::thread::hardware_concurrency()},
                  {"memory_bytes", pages * page_size},
                  {"kernel", Kernel()},
                  {"perf_events", perf_error == 0},
                  {"aslr_control", aslr_control}};
  machine["perf_event_paranoid"] = paranoid.empty() ? json() : json(paranoid);
  return machine;
}

json Beside(const char* name, json& lacks) {
  const std::string path = BesideExecutable(name);
  std::error_code error;
  const bool present = std::filesystem::is_regular_file(path, error);
  if (!present)
    AddLack(lacks, path + " is not there",
            "cmake --build " + std::filesystem::path(path).parent_path().string(), true);
  return {{"path", path}, {"present", present}};
}

// How to get the symbols of a stripped libjvm.so, as its vendor ships them.
std::string FixForSymbols(const Jdk& jdk) {
  const std::string beside =
      std::filesystem::path(jdk.libjvm).replace_extension(".debuginfo").string();
  if (jdk.vendor == "Debian" || jdk.vendor == "Ubuntu") {
    return fmt::format("apt-get install openjdk-{}-dbg", jdk.feature);
  }
  if (jdk.vendor.find("Red Hat") != std::string::npos) {
    return fmt::format("dnf debuginfo-install java-{}-openjdk-headless", jdk.feature);
  }
  if (jdk.vendor == "Eclipse Adoptium" && !jdk.build_id.empty()) {
    return fmt::format(
        "unpack the debug image of release jdk-{} from https://adoptium.net and copy its "
        "lib/server/libjvm.debuginfo to {}",
        jdk.version.substr(0, jdk.version.find('-')), beside);
  }
  if (jdk.build_id.empty()) return "use a build whose libjvm.so is not stripped";
  return fmt::format("cp \"$(debuginfod-find debuginfo {})\" {}", jdk.build_id, beside);
}

bool IsAvailable(const json& scene) { return scene.value("available", false); }
bool WalksTruly(const json& scene) {
  return IsAvailable(scene) && scene.value("pristine_true", false);
}

// Probes the scenes of `jdk`. Puts "scenes", "layout" and "safefetch" into `row`, scenes and
// safefetch null if the probe fails, and what is missing into `lacks`.
void CheckScenes(const Jdk& jdk, json& row, json& lacks) {
  const Result<json> probed = ProbeScenes(jdk);
  if (!probed.ok()) {
    row["scenes"] = row["safefetch"] = nullptr;
    AddLack(lacks, "no scene can be set up: " + probed.failure().message,
            fmt::format("check that {}/bin/java -version works", jdk.home), true);
    return;
  }
  for (const char* part : {"scenes", "layout", "safefetch"}) row[part] = probed.value()[part];
  if (row["safefetch"] == SafeFetchSourceWord(SafeFetchSource::kNowhere))
    AddLack(
        lacks,
        "SafeFetch, which faults on purpose, was not found, so no crash in the JVM's own code is "
        "blamed on a walker",
        "use a build whose libjvm.so is not stripped", false);
  if (std::none_of(row["scenes"].begin(), row["scenes"].end(), WalksTruly))
    AddLack(lacks, "no scene walks to its true stack",
            fmt::format("choose another JDK; a report of this one is welcome: {} {}", jdk.vendor,
                        jdk.version),
            true);
}

json Describe(const Jdk& jdk, bool may_start) {
  json lacks = json::array();
  const bool vm_structs = jdk.Exports("gHotSpotVMStructs");
  if (!vm_structs)
    AddLack(lacks,
            "libjvm.so exports no vmStructs (gHotSpotVMStructs), so the child cannot find thread "
            "states and anchors, and only stress --walker agct can be run",
            "use a HotSpot build with the serviceability agent", true);
  if (!jdk.has_symtab)
    AddLack(lacks, "libjvm.so is stripped, so crash sites are named by offset only",
            FixForSymbols(jdk), false);
  if (jdk.feature < kOldestFeature || jdk.feature > kNewestFeature)
    AddLack(
        lacks,
        fmt::format("JDK {} is outside of the versions that walkhammer is tested with ({} to {})",
                    jdk.version, kOldestFeature, kNewestFeature),
        "expect scenes to be missing", false);
  json row = {{"home", jdk.home},
              {"libjvm", jdk.libjvm},
              {"vendor", jdk.vendor},
              {"version", jdk.version},
              {"feature", jdk.feature},
              {"arch", jdk.arch},
              {"launcher", fmt::format("{}", fmt::join(jdk.platform.launcher, " "))},
              {"build_id", jdk.build_id},
              {"stripped", jdk.stripped},
              {"symbols", jdk.has_symtab},
              {"debug_file", jdk.debug_file},
              {"vm_structs", vm_structs},
              {"async_get_call_trace", jdk.Exports("AsyncGetCallTrace")},
              {"exported", jdk.exported}};
  if (may_start) CheckScenes(jdk, row, lacks);
  row["fuzzable"] = may_start && !AnyNeeded(lacks);
  row["missing"] = std::move(lacks);
  return row;
}

constexpr int kNameColumns = 18;

// For commands and paths, which stay whole.
void WholeRow(std::string_view name, std::string_view value) {
  Print(stdout, "  {:<{}} {}\n", name, kNameColumns, value);
}

// Wraps the value on a terminal; elsewhere a row is a line.
void Row(std::string_view name, std::string_view value) {
  const size_t columns = TextColumns(std::string::npos);
  WholeRow(name, columns == std::string::npos ? std::string(value)
                                              : Wrapped(value, columns, kNameColumns + 3));
}

const char* Permitted(bool yes) { return yes ? "permitted" : "not permitted"; }

std::string Text(const json& object, const char* key) {
  const std::string text = object.value(key, "");
  return text.empty() ? "unknown" : text;
}

void PrintLacks(const json& lacks) {
  for (const json& lack : lacks) {
    Row(lack["needed"].get<bool>() ? "MISSING" : "note", lack["what"].get<std::string>());
    WholeRow("  fix", lack["fix"].get<std::string>());
  }
}

void PrintScenes(const json& scenes) {
  const auto good = std::count_if(scenes.begin(), scenes.end(), WalksTruly);
  const auto available = std::count_if(scenes.begin(), scenes.end(), IsAvailable);
  Row("scenes", fmt::format("{} of {} walk to their true stacks", good, available));
  for (const json& scene : scenes) {
    if (WalksTruly(scene)) continue;
    Row("", fmt::format(
                "{}: {}{}", Text(scene, "name"),
                IsAvailable(scene) ? "agct differs: " : "not available: ", Text(scene, "reason")));
  }
}

// Prints how many layout facts are proven, not proven and missing, and names each that the running
// JVM contradicts. Some are always missing, since the layouts of JDKs differ.
void PrintLayout(const json& layout) {
  std::map<std::string, int> counts;
  std::vector<std::string> contradicted;
  int missing = 0;
  for (const json& fact : layout) {
    const std::string proof = Text(fact, "proof");
    fact["present"].get<bool>() ? counts[proof]++ : missing++;
    if (proof == ProofWord(Proof::kContradicted)) contradicted.push_back(Text(fact, "name"));
  }
  Row("layout", fmt::format("of {} facts {} proven, {} not proven; this JDK lacks {}",
                            layout.size(), counts["proven"], counts["not proven"], missing));
  if (!contradicted.empty())
    Row("", fmt::format("the running JVM contradicts {}", fmt::join(contradicted, ", ")));
}

void PrintMachine(const json& machine, const json& tool) {
  Print(stdout, "this machine\n");
  Row("cpu", fmt::format("{} ({}), {} cores", Text(machine, "cpu"), Text(machine, "arch"),
                         machine["cores"].get<unsigned>()));
  Row("memory",
      fmt::format("{:.1f} GiB", static_cast<double>(machine["memory_bytes"].get<uint64_t>()) /
                                    (1024.0 * 1024.0 * 1024.0)));
  Row("kernel", Text(machine, "kernel"));
  const json& paranoid = machine["perf_event_paranoid"];
  Row("perf events",
      fmt::format("{} (perf_event_paranoid {})", Permitted(machine["perf_events"].get<bool>()),
                  paranoid.is_null() ? "absent" : paranoid.get<std::string>()));
  Row("ASLR control", Permitted(machine["aslr_control"].get<bool>()));
  for (const char* part : {"child", "scenes_jar"}) {
    WholeRow(part == std::string_view("child") ? "child" : "scenes jar",
             tool[part]["path"].get<std::string>());
  }
}

std::string SafeFetchWords(const std::string& source) {
  return source == SafeFetchSourceWord(SafeFetchSource::kNowhere) ? "not found"
                                                                  : "found by its " + source;
}

void PrintJdk(const json& jdk) {
  Print(stdout, "\n{}\n", jdk["home"].get<std::string>());
  Row("build",
      fmt::format("{} {}, {}", Text(jdk, "vendor"), Text(jdk, "version"), Text(jdk, "arch")));
  if (const auto launcher = jdk["launcher"].get<std::string>(); !launcher.empty())
    Row("runs through", launcher);
  Row("build id", Text(jdk, "build_id"));
  const std::string debug_file = jdk["debug_file"].get<std::string>();
  Row("symbols", !jdk["symbols"].get<bool>() ? "none"
                 : debug_file.empty()        ? "in libjvm.so"
                                             : debug_file);
  Row("exports",
      fmt::format("{}", fmt::join(jdk["exported"].get<std::vector<std::string>>(), " ")));
  if (jdk.contains("safefetch") && jdk["safefetch"].is_string())
    Row("SafeFetch", SafeFetchWords(jdk["safefetch"].get<std::string>()));
  if (jdk.contains("scenes") && jdk["scenes"].is_array()) PrintScenes(jdk["scenes"]);
  if (jdk.contains("layout")) PrintLayout(jdk["layout"]);
  PrintLacks(jdk["missing"]);
  Row("can be fuzzed", jdk["fuzzable"].get<bool>() ? "yes" : "no");
}

struct Asked {
  std::vector<Jdk> jdks;
  std::vector<Failure> unusable;  // all are kUnable if JDKs were named
  std::optional<Failure> bad_input;
};

Asked AskedFor(const std::vector<std::string>& paths) {
  Asked asked;
  if (paths.empty()) asked.jdks = FindJdks(&asked.unusable);
  for (const std::string& path : paths) {
    Result<Jdk> jdk = OpenJdk(path);
    if (jdk.ok()) {
      asked.jdks.push_back(std::move(jdk.value()));
    } else if (jdk.failure().code == ExitCode::kBadInput) {
      asked.bad_input = jdk.failure();
      return asked;
    } else {
      asked.unusable.push_back(jdk.failure());
    }
  }
  return asked;
}

Result<ExitCode> RunDoctor(const DoctorOptions& options) {
  if (options.structs) return RunDoctorStructs(options);
  const Asked asked = AskedFor(options.jdks);
  if (asked.bad_input) return *asked.bad_input;
  RETURN_IF_ERROR(ScratchFolder().made());
  json report, lacks = json::array();
  report["machine"] = Machine(lacks);
  report["child"] = Beside(kChildName, lacks);
  report["scenes_jar"] = Beside(kScenesJarName, lacks);
  const bool may_start = !AnyNeeded(lacks);
  report["missing"] = std::move(lacks);
  report["jdks"] = json::array();
  size_t fuzzable = 0;
  for (const Jdk& jdk : asked.jdks) {
    report["jdks"].push_back(Describe(jdk, may_start));
    if (report["jdks"].back()["fuzzable"].get<bool>()) fuzzable++;
  }
  report["unusable"] = json::array();
  for (const Failure& failure : asked.unusable) report["unusable"].push_back(failure.message);

  if (options.json) {
    PrintJson(report);
  } else {
    PrintMachine(report["machine"], report);
    PrintLacks(report["missing"]);
    for (const json& jdk : report["jdks"]) PrintJdk(jdk);
    for (const json& message : report["unusable"]) {
      Print(stdout, "\nnot usable: {}\n", message.get<std::string>());
    }
  }
  // If JDKs were named, all must be fuzzable; of JDKs that were merely found, one is enough.
  const bool clean = options.jdks.empty() ? fuzzable > 0 : fuzzable == options.jdks.size();
  if (clean) return ExitCode::kClean;
  if (!asked.unusable.empty()) return Unable(asked.unusable.front().message);
  if (asked.jdks.empty()) return NewestJdk().failure();
  if (!may_start) return Unable("walkhammer is not built completely: see above");
  return Unable(fmt::format("{} of {} JDKs can be fuzzed: see above", fuzzable, asked.jdks.size()));
}

}  // namespace

void AddDoctor(CLI::App& app, Invocation& chosen) {
  Verb verb(app, "doctor",
            "Show what this machine and each JDK can do, or compare vmStructs of two JDKs");
  auto options = std::make_shared<DoctorOptions>();
  verb.Jdks(options->jdks);
  verb.Json(options->json);
  verb.Flag("--structs", options->structs,
            "Judge the second --jdk by the first: compare the entries of vmStructs that profilers "
            "read");
  verb.List("--reader", options->readers,
            "Reader to check for, in its newest version unless one is given; repeatable "
            "(default: all)",
            "NAME[@VERSION]");
  verb.Text("--table", options->table,
            "Table of what readers read (default: the one that comes with walkhammer)", "FILE.tsv");
  for (const char* option : {"--reader", "--table"}) verb.Needs(option, "--structs");
  verb.Runs(chosen, options, RunDoctor);
}

}  // namespace walkhammer
