// SPDX-License-Identifier: Apache-2.0
// walk_fuzzer: libFuzzer over a stock JVM. The parent's job names the walker; without a parent, the
// walker is the environment's WALKHAMMER_WALKER, else the one that the program is named after: a
// copy named agct_fuzzer fuzzes agct. All options of libFuzzer work. Started by
// `walkhammer fuzz --engine libfuzzer`, by a user, or by a fuzzing service.
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzers/engine_input.h"
#include "fuzzers/fuzz_target.h"
#include "fuzzers/walker_name.h"

extern "C" int LLVMFuzzerRunDriver(int* argc, char*** argv,
                                   int (*one_input)(const uint8_t* data, size_t size));

namespace walkhammer {
namespace {

// libFuzzer reads and clears the counters in this section.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[Feedback::kSize];

FuzzTarget::Options options;
FuzzTarget* target = nullptr;

// libFuzzer ends by exit(), but destructors must not run beside the JVM's threads.
void OnExit(int status, void*) {
  if (target != nullptr) target->Leave();
  _exit(status);
}

// Starts the JVM at the first call: a libFuzzer process that only starts others needs no JVM.
FuzzTarget& Target() {
  if (target == nullptr) {
    target = &FuzzTarget::Start(options);
    on_exit(OnExit, nullptr);  // after libjvm's own handlers, so that OnExit runs before them
  }
  return *target;
}

int OneInput(const uint8_t* data, size_t size) {
  Target().Walk({data, size});
  return 0;
}

int Main(int argc, char** argv) {
  if (getenv(kStateVariable) != nullptr) prctl(PR_SET_PDEATHSIG, SIGKILL);
  options.walker = WalkerName(argv[0], "_fuzzer", "walk_fuzzer");
  options.counters = counters;
  // -handle_*=0: the JVM and the guard need these signals. -entropic=0: a block counts only for the
  // input that entered it first, so entropic schedules have nothing to weigh inputs by, and take 7
  // times as long for puzzle-maze. The user's options follow and win. When libFuzzer restarts
  // itself, it passes the first word to a shell.
  const char* command = getenv(kCommandVariable);
  std::vector<std::string> words = {command == nullptr ? argv[0] : command,
                                    "-handle_segv=0",
                                    "-handle_bus=0",
                                    "-handle_ill=0",
                                    "-handle_fpe=0",
                                    "-handle_usr1=0",
                                    "-handle_usr2=0",
                                    "-rss_limit_mb=0",
                                    "-max_len=4096",
                                    "-entropic=0"};
  for (int i = 1; i < argc; i++) {
    words.emplace_back(argv[i]);
    if (words.back().starts_with("-merge")) options.forget = true;
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  int count = static_cast<int>(words.size());
  char** values = pointers.data();
  const int result = LLVMFuzzerRunDriver(&count, &values, OneInput);
  OnExit(result, nullptr);
  return result;
}

}  // namespace
}  // namespace walkhammer

extern "C" __attribute__((visibility("default"))) size_t LLVMFuzzerCustomMutator(uint8_t* data,
                                                                                 size_t size,
                                                                                 size_t max_size,
                                                                                 unsigned seed) {
  using namespace walkhammer;  // NOLINT(google-build-using-namespace)
  return MutateInput(Target().mutator(), data, size, max_size, seed);
}

extern "C" __attribute__((visibility("default"))) size_t LLVMFuzzerCustomCrossOver(
    const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, uint8_t* out, size_t max_size,
    unsigned seed) {
  using namespace walkhammer;  // NOLINT(google-build-using-namespace)
  return CrossInputs(Target().mutator(), {a, a_size}, {b, b_size}, out, max_size, seed);
}

int main(int argc, char** argv) { return walkhammer::Main(argc, argv); }
