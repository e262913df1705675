// SPDX-License-Identifier: Apache-2.0
// Bad walkers: the reference's AsyncGetStackTrace with one misdeed each, a row of the table below.
// The library does the misdeed that its file is named after: the test copies it to NAME.so.
// Signal-safe: yes, except asgst_attach.
#include <dlfcn.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "harness/asgst/include/asgst.h"
#include "harness/guard/arch.h"

namespace {

using walkhammer::ReadContext;
using walkhammer::Registers;
using walkhammer::WriteContext;
using WalkFunction = decltype(&AsyncGetStackTrace);
WalkFunction honest_walk = nullptr;
std::atomic<uint32_t> calls{0};
jmethodID wrong_method = nullptr;  // the outermost one of the first walk

constexpr jint kMost = 1024;  // frames that a misdeed moves

// A call of the API; misdeeds change what the honest walk has answered. Returned is the number of
// frames.
struct Walk {
  ASGST_CallTrace* trace;
  jint depth;
  void* context;
  uint32_t number;  // of this call, from 0

  ASGST_CallFrame* frames() const { return trace->frames; }
  jint count() const { return trace->num_frames; }
  bool Each(uint32_t so_many) const { return number % so_many == 0; }
  bool InJava() const { return count() > 0 && frames()[0].type != ASGST_FRAME_NATIVE; }
};

void SetMethod(ASGST_CallFrame& frame) { frame.java_frame.method_id = wrong_method; }

void Constant(const Walk& walk) {
  static ASGST_CallFrame frame{};
  if (frame.type == 0 && walk.InJava()) frame = walk.frames()[0];
  walk.frames()[0] = frame;
  walk.trace->num_frames = 1;
}

void Twice(const Walk& walk) {
  const jint kept = std::min(walk.count(), walk.depth / 2);
  for (jint i = kept - 1; i >= 0; i--)
    walk.frames()[2 * i + 1] = walk.frames()[2 * i] = walk.frames()[i];
  if (walk.count() > 0) walk.trace->num_frames = 2 * kept;
}

void Stale(const Walk& walk) {
  static ASGST_CallFrame kept[kMost];
  static jint kept_count = 1;
  ASGST_CallFrame now[kMost];
  const jint count = std::clamp(walk.count(), 0, kMost);
  std::copy_n(walk.frames(), count, now);
  if (kept[0].type != 0 && kept_count <= walk.depth) {
    std::copy_n(kept, kept_count, walk.frames());
    walk.trace->num_frames = kept_count;
  }
  if (count > 0) kept_count = static_cast<jint>(std::copy_n(now, count, kept) - kept);
}

// Another code each time, whatever it is asked.
void Fickle(const Walk& walk) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  walk.trace->num_frames = static_cast<jint>(-(1 + now.tv_nsec % 9));
}

void Hang() {
  static volatile bool goes_on = true;
  while (goes_on) {
  }
}

struct Misdeed {
  const char* name;
  void (*commit)(const Walk& walk);
};

constexpr Misdeed kMisdeeds[] = {
    {"honest", [](const Walk&) {}},
    {"no-frames", [](const Walk& walk) { walk.trace->num_frames = 0; }},
    {"constant", Constant},
    {"wrong-newest-1-percent",
     [](const Walk& walk) {
       if (walk.count() > 0 && walk.Each(100)) SetMethod(walk.frames()[0]);
     }},
    {"wrong-newest",
     [](const Walk& walk) {
       if (walk.count() > 0) SetMethod(walk.frames()[0]);
     }},
    {"newest-only", [](const Walk& walk) { walk.trace->num_frames = std::min(walk.count(), 1); }},
    {"no-outermost",
     [](const Walk& walk) {
       if (walk.count() > 1) walk.trace->num_frames--;
     }},
    {"no-caller",
     [](const Walk& walk) {
       if (walk.count() < 3) return;
       std::copy(walk.frames() + 2, walk.frames() + walk.count(), walk.frames() + 1);
       walk.trace->num_frames--;
     }},
    {"every-second-fails",
     [](const Walk& walk) {
       if (walk.Each(2)) walk.trace->num_frames = ASGST_UNKNOWN_JAVA;
     }},
    {"few-answers",
     [](const Walk& walk) {
       if (!walk.Each(50)) walk.trace->num_frames = ASGST_UNKNOWN_NOT_JAVA;
     }},
    {"deopt-in-java",
     [](const Walk& walk) {
       if (walk.InJava()) walk.trace->num_frames = ASGST_DEOPT;
     }},
    {"unknown-code",
     [](const Walk& walk) {
       if (walk.Each(10)) walk.trace->num_frames = -1234;
     }},
    {"errno", [](const Walk&) { errno = ENOENT; }},
    {"twice", Twice},
    {"reversed",
     [](const Walk& walk) {
       std::reverse(walk.frames(), walk.frames() + std::max(walk.count(), 0));
     }},
    {"wrong-byte-codes",
     [](const Walk& walk) {
       for (jint i = 0; i < walk.count(); i++)
         if (walk.frames()[i].type != ASGST_FRAME_NATIVE) walk.frames()[i].java_frame.bci++;
     }},
    {"stale", Stale},
    {"fickle", Fickle},
    {"frame-of-none",
     [](const Walk& walk) {
       if (walk.count() == 0) walk.trace->num_frames = 1;
     }},
    {"too-many",
     [](const Walk& walk) {
       if (walk.count() > 0) walk.trace->num_frames = walk.depth + 1;
     }},
    {"own-pc",
     [](const Walk& walk) {
       auto mixed = *static_cast<const ucontext_t*>(walk.context);
       Registers registers = ReadContext(mixed);
       registers.pc = reinterpret_cast<uint64_t>(Stale);
       WriteContext(registers, mixed);
       honest_walk(walk.trace, walk.depth, &mixed, 0);
     }},
    {"writes-behind",
     [](const Walk& walk) { std::memset(walk.frames() + walk.depth, 0, sizeof(ASGST_CallFrame)); }},
    {"blocks-signals",
     [](const Walk&) {
       sigset_t mask;
       sigemptyset(&mask);
       sigaddset(&mask, SIGUSR2);
       sigprocmask(SIG_BLOCK, &mask, nullptr);
     }},
    {"allocates",
     [](const Walk&) {
       static void* volatile memory = nullptr;  // not to be optimised away
       memory = malloc(100);
       free(memory);
     }},
    {"crashes-1-in-1000",
     [](const Walk& walk) {
       static int* volatile nowhere = nullptr;
       if (walk.Each(1000)) *nowhere = 1;
     }},
    {"hangs-1-in-1000",
     [](const Walk& walk) {
       if (walk.Each(1000)) Hang();
     }},
};

void (*commit)(const Walk& walk) = nullptr;

void FindMisdeed() {
  Dl_info self{};
  dladdr(reinterpret_cast<const void*>(&FindMisdeed), &self);
  const char* slash = strrchr(self.dli_fname, '/');
  const char* name = slash == nullptr ? self.dli_fname : slash + 1;
  for (const Misdeed& misdeed : kMisdeeds) {
    const size_t length = strlen(misdeed.name);
    if (strncmp(name, misdeed.name, length) == 0 && strcmp(name + length, ".so") == 0)
      commit = misdeed.commit;
  }
}

}  // namespace

jint asgst_attach(JavaVM* vm) {
  FindMisdeed();
  void* reference = dlopen(WALKHAMMER_LIBASGST, RTLD_NOW | RTLD_LOCAL);
  if (reference == nullptr || commit == nullptr) return -1;
  const auto attach = reinterpret_cast<decltype(&asgst_attach)>(dlsym(reference, "asgst_attach"));
  const auto wait = reinterpret_cast<decltype(&asgst_wait_for_c_frames)>(
      dlsym(reference, "asgst_wait_for_c_frames"));
  honest_walk = reinterpret_cast<WalkFunction>(dlsym(reference, "AsyncGetStackTrace"));
  if (attach(vm) != 0) return -1;
  wait(10'000);
  return 0;
}

void AsyncGetStackTrace(ASGST_CallTrace* trace, jint depth, void* context, uint32_t options) {
  constexpr uint32_t kHonest = 16;  // calls: walkhammer probes the layout of what it is given
  honest_walk(trace, depth, context, options);
  const uint32_t number = calls.fetch_add(1);
  if (wrong_method == nullptr && trace->num_frames > 0)
    wrong_method = trace->frames[trace->num_frames - 1].java_frame.method_id;
  if (number >= kHonest) commit({trace, depth, context, number});
}
