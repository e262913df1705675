// SPDX-License-Identifier: Apache-2.0
// walk_fuzzer: libFuzzer over a stock JVM. The walker is the job's, the environment's
// WALKHAMMER_WALKER, or the one that the program is named after: a copy named agct_fuzzer fuzzes
// agct. All of libFuzzer's options work; started by `walkhammer fuzz --engine libfuzzer`, by hand,
// or by a fuzzing service.
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

// libFuzzer reads and clears what lies in this section.
__attribute__((section("__libfuzzer_extra_counters"))) uint8_t counters[Feedback::kSize];

FuzzTarget::Options options;
FuzzTarget* target = nullptr;

// libFuzzer ends by exit(); the JVM's destructors must not run beside its threads.
void OnExit(int status, void*) {
  if (target != nullptr) target->Leave();
  _exit(status);
}

// The JVM starts with the first input: a libFuzzer that only hands work to others needs none.
FuzzTarget& Target() {
  if (target == nullptr) {
    target = &FuzzTarget::Start(options);
    on_exit(OnExit, nullptr);  // now, so that it runs before what libjvm has registered
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
  // The JVM and the guard want these signals. A block counts for the input that met it first and is
  // never seen again, which leaves entropic schedules without what they weigh inputs by:
  // puzzle-maze takes them 7 times as long. What the user gives comes later and wins.
  // libFuzzer hands the first word to a shell where it starts itself anew.
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
