// walkhammer: the command. One verb, one file; this table is the list of them.
#include <CLI/CLI.hpp>

#include "harness/cli/common.h"
#include "harness/cli/interrupt.h"
#include "harness/cli/scene_probe.h"
#include "harness/cli/verb.h"

int main(int argc, char** argv) {
  using namespace walkhammer;
  constexpr AddVerb kVerbs[] = {AddDoctor,   AddFuzz, AddStress, AddStep, AddReplay,
                                AddMinimize, AddShow, AddReport, AddList};

  CLI::App app{
      "Hammers the stack walkers of the JVM until they break, and hands over each break\n"
      "as a small, replayable, explained input."};
  app.set_version_flag("--version", WALKHAMMER_VERSION);
  app.footer(
      "Exit codes: 0 clean, 1 findings or regression, 2 usage or bad input,\n"
      "3 this machine or JDK cannot do it, 4 vacuous run or tool failure.");
  app.require_subcommand(0, 1);
  Invocation chosen;
  chosen.probe_scenes = ProbeScenes;
  for (AddVerb add : kVerbs) add(app, chosen);
  CatchInterrupts();
  return RunCommand(app, chosen, argc, argv);
}
