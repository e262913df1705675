// SPDX-License-Identifier: Apache-2.0
// A plugin for walkhammer (docs/howto/own-walker.md): a profiler that asks AsyncGetCallTrace. With
// -DWITH_BUG, it keeps a stack for each pc, as if a method always had the same callers.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "walkhammer_walker.h"

// AsyncGetCallTrace's structure. Its frames have the size of ours, without a kind.
typedef struct {
  JNIEnv* env;
  jint count;
  walkhammer_frame* frames;
} call_trace;

static void (*async_get_call_trace)(call_trace*, jint, void*);

#ifdef WITH_BUG
static struct {
  uint64_t pc;
  int32_t count;
  walkhammer_frame frames[100];
} kept[1024];
#endif

const char* walkhammer_setup(JavaVM* vm) {
  (void)vm;
  void* jvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  if (jvm != NULL) *(void**)&async_get_call_trace = dlsym(jvm, "AsyncGetCallTrace");
  return async_get_call_trace != NULL ? NULL : "it does not export AsyncGetCallTrace";
}

int32_t walkhammer_walk(ucontext_t* context, JNIEnv* env, walkhammer_frame* frames, int32_t most) {
  call_trace trace = {env, 0, frames};
#ifdef WITH_BUG
#ifdef __x86_64__
  const uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#else
  const uint64_t pc = context->uc_mcontext.pc;
#endif
  const size_t at = pc / 4 % 1024;
  if (kept[at].pc == pc && kept[at].count <= most) {
    memcpy(frames, kept[at].frames, (size_t)kept[at].count * sizeof *frames);
    return kept[at].count;
  }
#endif
  async_get_call_trace(&trace, most, context);
  for (int32_t i = 0; i < trace.count; i++) frames[i].kind = 0;
#ifdef WITH_BUG
  if (trace.count > 0 && trace.count <= 100) {
    kept[at].pc = pc;
    kept[at].count = trace.count;
    memcpy(kept[at].frames, frames, (size_t)trace.count * sizeof *frames);
  }
#endif
  return trace.count;
}
