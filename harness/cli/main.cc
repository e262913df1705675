// walkhammer: the command. One verb, one file; this table is the list of them.
#include "harness/cli/interrupt.h"
#include "harness/cli/options.h"
#include "harness/cli/scene_probe.h"
#include "harness/cli/verb.h"

int main(int argc, char** argv) {
  using namespace walkhammer;
  Invocation chosen;
  chosen.probe_scenes = ProbeScenes;
  CatchInterrupts();
  return RunCommand(
      {AddDoctor, AddFuzz, AddStress, AddStep, AddReplay, AddMinimize, AddShow, AddReport, AddList},
      chosen, argc, argv);
}
