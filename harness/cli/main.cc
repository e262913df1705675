// SPDX-License-Identifier: Apache-2.0
// walkhammer: the command. Its verbs are those of harness/cli/verbs.cc.
#include <fcntl.h>
#include <unistd.h>

#include "harness/cli/command.h"
#include "harness/process/interrupt.h"

namespace {

// Opens /dev/null for each standard stream that the caller left closed. Otherwise a file that is
// opened later would get its number, and a child's standard stream would replace that file.
void OpenStandardStreams() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0 && fd <= STDERR_FILENO;)
    fd = open("/dev/null", O_RDWR);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace walkhammer;  // NOLINT(google-build-using-namespace)
  OpenStandardStreams();
  Invocation chosen;
  CatchInterrupts();
  return RunCommand(AllVerbs(), chosen, argc, argv);
}
