// SPDX-License-Identifier: Apache-2.0
// A library that exports AsyncGetCallTrace: libjvm's, or with FAKE_WRONG without its newest frame.
// Signal-safe: yes.
#include <dlfcn.h>

#include <algorithm>

#include "harness/walkers/agct.h"

namespace {

using walkhammer::AgctFunction, walkhammer::AgctTrace;

const auto real = reinterpret_cast<AgctFunction>(
    dlsym(dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD), "AsyncGetCallTrace"));

}  // namespace

extern "C" __attribute__((visibility("default"))) void AsyncGetCallTrace(AgctTrace* trace,
                                                                         jint depth,
                                                                         void* context) {
  real(trace, depth, context);
#ifdef FAKE_WRONG
  if (trace->num_frames <= 1) return;
  std::copy_n(trace->frames + 1, trace->num_frames - 1, trace->frames);
  trace->num_frames--;
#endif
}
