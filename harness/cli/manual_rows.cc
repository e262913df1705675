// SPDX-License-Identifier: Apache-2.0
#include "harness/cli/manual_rows.h"

namespace walkhammer {
namespace {

const ManualRow kFind[] = {
    {"walkhammer",
     "walkhammer drives the stack-walking APIs of unmodified JDKs, such as AsyncGetCallTrace. It "
     "contains crashes and hangs, judges each answer, and turns findings into small requests that "
     "replay them.\n\n"
     "Results go to stdout, progress and diagnostics to stderr. A known bug "
     "does not fail a run; a new one ends it with exit code 1.",
     {{"Fuzz the newest JDK of this machine for half a minute", "walkhammer fuzz --time 30s"},
      {"What this machine and its JDKs can do", "walkhammer doctor"},
      {"Fuzz a JDK for ten minutes",
       "walkhammer fuzz --jdk /opt/jdk-25 --time 10m --out out/night"},
      {"The report of that run, as a page", "walkhammer report out/night --html report.html"}}},
    {"fuzz",
     "The verb makes walk requests. It presents each to a walker in a scene, which is a Java "
     "thread parked in a known place, and judges the answer. The JVM is stopped during walks, so "
     "nothing else moves.\n\n"
     "The same seed makes the same requests in each process of the same JDK and flags. The engines "
     "libfuzzer and afl are guided by the coverage of the walker's own code. Findings are "
     "replayed in fresh processes, and minimised. The last lines are commands that show the first "
     "one and replay it.",
     {{"Fuzz with ZGC, repeatably",
       "walkhammer fuzz --jdk /opt/jdk-25 --time 10m --seed 7 --out out/night -- -XX:+UseZGC"},
      {"Compare two walkers on the same requests", "walkhammer fuzz --walker agct,asgst"},
      {"Guided by coverage, from a folder of inputs that grows",
       "walkhammer fuzz --engine libfuzzer --workers 2 --corpus nightly --time 1h "
       "--coverage-goal 45"}}},
    {"stress",
     "The verb runs real programs, samples their threads, by default every 100 us, and calls the "
     "walker on each sample, guarded. Workloads, JDKs and profiles of flags multiply into cells, "
     "which share the cores.\n\n"
     "The walker may also be JFR, or the agent of another profiler, which then walks by itself.",
     {{"All bundled programs, at random intervals",
       "walkhammer stress --workload \"torture:*\" --interval 10us..100us --time 60s"},
      {"A program of yours, with three sets of flags",
       "walkhammer stress --java \"-jar app.jar\" --profile default,zgc,c1"},
      {"A JVM that is running", "walkhammer stress --pid 4711 --time 30s"}}},
    {"step",
     "The verb walks at each single instruction that a Java thread executes, and maps where a "
     "walker is blind or wrong.",
     {{"A bundled program", "walkhammer step --workload torture:mixed --time 20s"},
      {"A scene, with the reference walker", "walkhammer step --scene c2 --walker asgst"}}},
};

const ManualRow kFindings[] = {
    {"replay",
     "The verb walks requests again in fresh processes, and says which JDK and which profile of "
     "flags shows which finding, k of n times.",
     {{"Which of two JDKs shows what a run found",
       "walkhammer replay out/night/crashes/NAME/input.walk --jdk /opt/jdk-21 --jdk /opt/jdk-25 "
       "--times 20"},
      {"The same on each JDK of a folder", "walkhammer replay NAME.walk --jdk-dir /opt/jdks"}}},
    {"minimize",
     "The verb looks for the smallest request with the same signature. Replays verify each step.",
     {{"Write it to a file", "walkhammer minimize input.walk --out small.walk"}}},
    {"bisect",
     "The verb finds the two builds between which a request starts or stops failing. It measures "
     "how reliably the request breaks, and replays each build often enough to notice rare "
     "breaks.\n\n"
     "Builds that cannot walk the request are left out, and a bug that comes back is reported.",
     {{"The first build that breaks", "walkhammer bisect small.walk --jdk-dir /opt/jdks"},
      {"The first build that does not", "walkhammer bisect small.walk --jdk-dir /opt/jdks --fix"}}},
    {"show",
     "The verb prints a request in canonical form and in words. It also prints the tables that the "
     "other verbs read: walkers, scenes, oracles, engines, workloads, profiles, JDKs. A file that "
     "has the name of a table is written with its folder, as in ./walkers.",
     {{"A request in words", "walkhammer show out/night/crashes/NAME/input.walk"},
      {"Which scenes a JDK has", "walkhammer show scenes --jdk /opt/jdk-25"},
      {"Also the planted bugs that test walkhammer", "walkhammer show walkers --all"}}},
    {"bundle",
     "The verb makes a folder to attach to a bug report: the minimised request, the report, and a "
     "table of builds. Names of hosts, users and folders are taken out.",
     {{"A crash folder, with each JDK of a folder",
       "walkhammer bundle out/night/crashes/NAME --jdk-dir /opt/jdks --out bundle"}}},
};

const ManualRow kRuns[] = {
    {"report",
     "The verb reports what a run found, and which of the walker's blocks it reached, from the "
     "folder of the run alone. The exit code is that of the run's verdict, in each form of the "
     "report.",
     {{"As a page, and for a CI server",
       "walkhammer report out/night --html report.html --junit report.xml"},
      {"When each bucket was seen in many runs", "walkhammer report --history out/nights"},
      {"The part of a function that no walk reached",
       "walkhammer report out/night --unreached --function safe_for_sender"}}},
    {"gate",
     "The verb compares the runs of two builds, and says what of the second one is worse: crashes, "
     "wrong answers, error codes, times. Differences are separated from chance.\n\n"
     "Too little data is not a pass: the exit code is 4 then.\n\n"
     "With --night, it judges a night, a folder of many runs, against the last green one. Red is "
     "exit code 1, and names what is new and was replayed. Unsure is exit code 4.",
     {{"Three runs of each build",
       "walkhammer gate --baseline out/base-1 out/base-2 out/base-3 --candidate out/new-1 "
       "out/new-2 "
       "out/new-3"},
      {"Replay what differs, with your policy",
       "walkhammer gate --baseline out/base --candidate out/new --replay 10 --policy gate.toml"},
      {"What two JDKs answer to the corpora, without runs",
       "walkhammer gate --jdk JDK-A --jdk JDK-B"},
      {"Judge a night by what is known at this moment", "walkhammer gate --night nights/20260301"},
      {"Against a night that you choose",
       "walkhammer gate --night nights/20260302 --baseline nights/20260226"}}},
    {"merge",
     "The verb joins run folders of one build into one folder, which the other verbs read as they "
     "read any run. A run that is there twice counts once.",
     {{"The shards of a campaign", "walkhammer merge --out out/all out/shard-1 out/shard-2"}}},
};

const ManualRow kBugs[] = {
    {"bugs",
     "A store is a folder with a small text file for each bug, which a team shares in its own "
     "version control. The verbs below it say what of a run is new, known, accepted or back.",
     {{"What of a run is new", "walkhammer bugs update --store bugs out/night"},
      {"Which known issues a JDK has", "walkhammer bugs check --jdk /opt/jdk-25"}}},
    {"bugs update",
     "The verb looks up in a store what runs found, and opens a bug for each finding that is new. "
     "The exit code is 1 if somebody has to look.",
     {{"Two nights", "walkhammer bugs update --store bugs out/night-1 out/night-2"},
      {"Open none", "walkhammer bugs update --store bugs --only-known out/night-1"}}},
    {"bugs grade",
     "The verb judges an old run by what the store knows at this moment. It changes nothing.",
     {{"One run", "walkhammer bugs grade --store bugs out/night-7"}}},
    {"bugs list",
     "The verb prints the bugs of a store, with their states.",
     {{"Those that are open", "walkhammer bugs list --store bugs --state open"}}},
    {"bugs set",
     "The verb sets the state of a bug, as if its file were edited. An accepted bug has a "
     "reason and a last day, after which it counts as open again.",
     {{"Accept a bug for some time",
       "walkhammer bugs set --store bugs ID --state accepted --reason \"fixed in 28\" "
       "--until 2027-03-31"},
      {"It is fixed from a version on",
       "walkhammer bugs set --store bugs ID --state fixed --in 17.0.9+9"}}},
    {"bugs check",
     "The verb says which of the known issues a JDK has, by its version and by replays. With a "
     "store, it replays the open bugs of a team on a new build, and closes those that are proven "
     "fixed.",
     {{"Is my JDK affected?", "walkhammer bugs check --jdk /opt/jdk-17"},
      {"What does a new build fix?", "walkhammer bugs check --store bugs --jdk /opt/jdk-17.0.9"}}},
};

const ManualRow kOthers[] = {
    {"import",
     "The verb says of a crash report whether a stack walker is to blame and which known bug it "
     "resembles. It takes hs_err logs, texts with a stack of gdb or lldb, and cores. It writes "
     "requests that may show the crash again.\n\n"
     "With --walk, it walks the stacks of the Java threads in a core with the reference walker. No "
     "JVM runs: the walk reads registers and memory of the core, and the libraries of its process. "
     "It prints methods, bytecodes, lines and how each frame was compiled, and why each walk "
     "ended. With --expect, it compares the stacks, and shows the first frame of each that "
     "differs.",
     {{"Judge a log", "walkhammer import hs_err_pid4711.log"},
      {"Does this JDK show the crash?",
       "walkhammer import --reproduce hs_err_pid4711.log --jdk /opt/jdk-25"},
      {"A log without personal data", "walkhammer import --redact hs_err_pid4711.log"},
      {"The Java stacks of a core", "walkhammer import --walk core.4711"},
      {"Keep them, and compare later", "walkhammer import --walk core.4711 --write stacks.txt"},
      {"Are they still the same?", "walkhammer import --walk core.4711 --expect stacks.txt"}}},
    {"doctor",
     "The verb shows what this machine and each JDK can do, and which command installs what is "
     "missing. The exit code is 3 if a named JDK cannot be fuzzed.\n\n"
     "With --structs, it compares the vmStructs of two JDKs, and says which readers lose what they "
     "read. The tables are read out of the files, so no JVM is started.",
     {{"All JDKs that are found", "walkhammer doctor"},
      {"Of one JDK, as JSON", "walkhammer doctor --jdk /opt/jdk-25 --json"},
      {"What a newer build takes from profilers",
       "walkhammer doctor --structs --jdk /opt/jdk-25 --jdk /opt/jdk-26"},
      {"For one version of a reader",
       "walkhammer doctor --structs --jdk /opt/jdk-25 --jdk /opt/jdk-26 --reader "
       "async-profiler@3.0"}}},
};

constexpr char kOfJdks[] =
    "fuzz,stress,step,replay,minimize,bisect,show,bundle,import,doctor,bugs check";
constexpr char kOfRuns[] = "fuzz,stress,step,report,gate,merge,import,bugs update,bugs grade";

}  // namespace

const std::vector<ManualRow>& AllManualRows() {
  static const std::vector<ManualRow> kRows = [] {
    std::vector<ManualRow> rows;
    const auto add = [&](const auto& more) {
      rows.insert(rows.end(), std::begin(more), std::end(more));
    };
    add(kFind);
    add(kFindings);
    add(kRuns);
    add(kBugs);
    add(kOthers);
    return rows;
  }();
  return kRows;
}

const std::vector<ManualNote>& ManualVariables() {
  static const std::vector<ManualNote> kVariables = {
      {"WALKHAMMER_JDK", "The JDK of a verb without --jdk; otherwise it takes the newest one.",
       kOfJdks},
      {"JAVA_HOME",
       "A JDK to find, besides those in /usr/lib/jvm and that of the java command in PATH.",
       kOfJdks},
      {"WALKHAMMER_EMULATOR",
       "The emulator for JDKs of another architecture; otherwise qemu is looked for in PATH.",
       kOfJdks},
      {"WALKHAMMER_BUILD_ARCH", "The folder with the parts of walkhammer for that architecture.",
       kOfJdks},
      {"PATH", "Where the engine afl looks for afl-fuzz.", "fuzz"},
      {"XDG_CACHE_HOME",
       "Suites that were downloaded are in its folder walkhammer; otherwise in "
       "~/.cache/walkhammer.",
       "stress,step,show"},
      {"TMPDIR", "Folder for temporary files; otherwise /tmp.", ""},
      {"COLUMNS",
       "Columns for the help and for the first screen of a run, at most 80; otherwise those of the "
       "terminal.",
       ""},
      {"TERM", "With dumb, progress is printed in lines of their own, and not drawn in place.", ""},
      {"NO_COLOR", "It changes nothing, because walkhammer prints no colours.", ""},
  };
  return kVariables;
}

const std::vector<ManualNote>& ManualFiles() {
  static const std::vector<ManualNote> kFiles = {
      {"RUN/run.db", "The results of a run, in its folder: one SQLite file.", kOfRuns},
      {"RUN/crashes/BUCKET/input.walk", "The request that shows what was found.",
       "fuzz,stress,step,replay,minimize,bisect,show,bundle"},
      {"RUN/crashes/BUCKET/minimized.walk", "The smallest request known that does the same.",
       "fuzz,stress,step,replay,bisect,show,bundle"},
      {"RUN/crashes/BUCKET/explain.txt", "The finding in words.", "fuzz,stress,step,show"},
      {"RUN/report.html", "A page for people.", "fuzz,stress,step"},
      {"NIGHT/night.json", "What later nights need of a night.", "gate"},
      {"STORE/ID.toml", "A bug of a team's store.",
       "bugs,bugs update,bugs grade,bugs list,bugs set,bugs check"},
      {"lib/walkhammer/known-issues", "The known issues, a file each.",
       "fuzz,stress,step,report,gate,import,bugs check"},
      {"lib/walkhammer/workloads", "The catalogues of programs to run.", "stress,step,show"},
      {"lib/walkhammer/seeds", "The requests that guided engines start from.", "fuzz"},
      {"lib/walkhammer/vmstructs/readers.tsv", "What readers of vmStructs read.", "doctor"},
      {"lib/walkhammer", "The parts of the command, beside which it finds all others.", ""},
      {"share/doc/walkhammer", "Further documentation.", ""},
  };
  return kFiles;
}

}  // namespace walkhammer
