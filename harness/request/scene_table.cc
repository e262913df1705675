// SPDX-License-Identifier: Apache-2.0
#include "harness/request/scene_table.h"

#include <iterator>

namespace walkhammer {
namespace {

// Append only: binary requests and shared counters hold indices into this table.
constexpr SceneInfo kScenes[] = {
    {"interpreted-recursion", "24 interpreted activations of one recursive method"},
    {"c1", "a chain of methods compiled by C1",
     "-XX:TieredStopAtLevel=3"},  // else C2 compiles the chain after some time
    {"c2", "a chain of methods compiled by C2, not inlined"},
    {"c2-inlined-chain", "a chain of methods inlined by C2 into one activation"},
    {"osr-loop", "a loop entered by on-stack replacement"},
    {"jni-up-down", "Java and native frames interleaved by JNI up and down calls"},
    {"deep-recursion", "10,000 activations of one recursive method"},
    {"exception-finally", "a finally block run while an exception goes through the frames"},
    {"exception-construct", "a Throwable whose fillInStackTrace is running"},
    {"monitor-held", "synchronized methods and blocks holding three monitors"},
    {"monitor-enter", "blocked entering a monitor that another thread holds"},
    {"monitor-wait", "in Object.wait"},
    {"lambda-reflection", "lambda, method handle, reflection and proxy frames"},
    {"static-initializer", "a static initialiser, run by the first use of its class"},
    {"pending-deopt", "activations of invalidated C2 code that still run in it"},
    {"guard-pages", "recursion that ends close to the stack's guard pages"},
    {"class-loader", "methods of a class from a custom loader, and loadClass itself"},
    {"huge-frame", "a method with thousands of stack slots"},
    {"mixed-tiers", "interpreted, C1 and C2 frames in turn, through the adapters"},
    {"virtual-mounted", "a mounted virtual thread (JDK 21 and later)"},
    {"virtual-pinned", "a virtual thread pinned by a native frame (JDK 21 and later)"},
    {"monitor-enter-c2", "blocked in C2's slow path for a contended monitor"},
    {"deoptimized", "activations whose return addresses lead to the deoptimisation handler"},
    {"sampled", "memory for the stack of a sample, see walk-format.md"},
    {"zombie-code", "beside compiled code that is a zombie (JDK 19 and before, by flags)"},
    {"virtual-thawed", "a mounted virtual thread whose callers are in the heap (JDK 21 and later)"},
};

}  // namespace

std::span<const SceneInfo> AllScenes() { return kScenes; }

std::optional<int> FindScene(std::string_view name) {
  for (size_t i = 0; i < std::size(kScenes); i++)
    if (name == kScenes[i].name) return static_cast<int>(i);
  return std::nullopt;
}

}  // namespace walkhammer
