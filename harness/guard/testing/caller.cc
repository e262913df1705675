// SPDX-License-Identifier: Apache-2.0
// What the dynamic loader answers by its caller. See interpose_test.cc.
#include <dlfcn.h>

extern "C" {

// Volatile: a call at the end of a function would be a jump, and would have another caller.
__attribute__((visibility("default"))) void* wh_caller_next_of_itself() {
  void* volatile found = dlsym(RTLD_NEXT, "wh_caller_next_of_itself");
  return found;
}

__attribute__((visibility("default"))) void* wh_caller_open_by_runpath() {
  void* volatile library = dlopen("libbeside.so", RTLD_NOW);
  return library;
}
}
