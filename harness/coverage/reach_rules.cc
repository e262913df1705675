// SPDX-License-Identifier: Apache-2.0
#include "harness/coverage/reach_rules.h"

#include <algorithm>
#include <span>

namespace walkhammer {
namespace {

struct Stop {
  std::string_view prefix;  // of the demangled name without its return type
  const char* reason;
};

constexpr char kDying[] = "reports the JVM's own death: the walk is over by then";
constexpr char kPrinting[] = "prints or logs";
constexpr char kMemory[] = "manages native memory: a walk that comes here is a finding of its own";
constexpr char kLocking[] = "takes a lock: a walk that comes here is a finding of its own";
constexpr char kCollector[] = "processes frames for a collector, which no walker asks for";
constexpr char kMoving[] = "a barrier's slow path: moves objects for a collector";
constexpr char kWaiting[] = "safepoints, handshakes and events: a walker starts none";
constexpr char kRuntime[] = "C++ runtime";
constexpr char kMaking[] = "makes or archives code, which no walker does";

constexpr Stop kStops[] = {
    {"VMError::", kDying},
    {"report_", kDying},
    {"print_error_for_unit_test", kDying},
    {"breakpoint", kDying},
    {"os::abort", kDying},
    {"os::die", kDying},

    {"outputStream::", kPrinting},
    {"stringStream::", kPrinting},
    {"fdStream::", kPrinting},
    {"fileStream::", kPrinting},
    {"defaultStream::", kPrinting},
    {"xmlStream::", kPrinting},
    {"ttyLocker::", kPrinting},
    {"Log", kPrinting},  // LogImpl<...>, LogTagSet::, LogStream::, ...
    {"jio_", kPrinting},
    {"os::vsnprintf", kPrinting},
    {"os::snprintf", kPrinting},
    {"warning(", kPrinting},
    {"Events::", kPrinting},
    {"Disassembler::", kPrinting},

    {"os::malloc", kMemory},
    {"os::realloc", kMemory},
    {"os::free", kMemory},
    {"AllocateHeap", kMemory},
    {"ReallocateHeap", kMemory},
    {"FreeHeap", kMemory},
    {"Arena::", kMemory},
    {"Chunk::", kMemory},
    {"ChunkPool::", kMemory},
    {"MallocTracker::", kMemory},
    {"MemTracker::", kMemory},
    {"MemoryService::", kMemory},
    {"NativeCallStack::", kMemory},

    {"Mutex::", kLocking},
    {"Monitor::", kLocking},
    {"ThreadCritical::", kLocking},

    {"StackWatermark::process_one", kCollector},
    {"StackWatermark::start_processing", kCollector},
    {"ZRelocate", kMoving},
    {"ShenandoahEvacOOM", kMoving},
    {"ShenandoahBarrierSet::load_reference_barrier", kMoving},
    {"ShenandoahHeap::", kMoving},
    // ZGC without generations in JDK 21 and 22.
    {"XBarrier::", kMoving},
    {"XRelocate", kMoving},
    {"XHeap::", kMoving},
    {"XMark", kMoving},
    {"stackChunkOopDesc::iterate_stack", kCollector},
    {"stackChunkOopDesc::relativize_derived", kCollector},

    {"Jvmti", kWaiting},
    {"Jfr", kWaiting},
    {"SafepointMechanism::", kWaiting},
    {"SafepointSynchronize::", kWaiting},
    {"HandshakeState::", kWaiting},
    {"VMThread::", kWaiting},
    {"ServiceThread::", kWaiting},

    {"__cxa_", kRuntime},
    {"__cxxabiv1::", kRuntime},
    {"__gnu_cxx::", kRuntime},
    {"std::", kRuntime},
    {"operator new", kRuntime},
    {"operator delete", kRuntime},
    {"_Unwind_", kRuntime},

    {"RuntimeBlob::trace_new_stub", kMaking},
    {"RuntimeStub::Vptr::post_restore", kMaking},
};

// Members with names that begin like this, whatever their class.
constexpr Stop kMemberStops[] = {
    {"::print", kPrinting},
    {"::log_", kPrinting},
    {"::post_restore", kMaking},  // JDK 25: out of the ahead-of-time cache
    {"::prepare_for_archiving", kMaking},
};

struct Family {
  std::span<const std::string_view> classes;
  const char* reason;
};

// JDK 24 moved CodeBlob's virtual functions into classes of their own, called Vptr.
constexpr std::string_view kCodeBlobs[] = {"CodeBlob",
                                           "CompiledMethod",
                                           "nmethod",
                                           "RuntimeBlob",
                                           "BufferBlob",
                                           "AdapterBlob",
                                           "VtableBlob",
                                           "MethodHandlesAdapterBlob",
                                           "RuntimeStub",
                                           "SingletonBlob",
                                           "SafepointBlob",
                                           "DeoptimizationBlob",
                                           "UncommonTrapBlob",
                                           "ExceptionBlob",
                                           "OptimizedEntryBlob",
                                           "UpcallStub",
                                           "CodeBlob::Vptr",
                                           "nmethod::Vptr",
                                           "RuntimeBlob::Vptr",
                                           "BufferBlob::Vptr",
                                           "RuntimeStub::Vptr",
                                           "SingletonBlob::Vptr",
                                           "UpcallStub::Vptr",
                                           "DeoptimizationBlob::Vptr",
                                           "ExceptionBlob::Vptr"};
constexpr std::string_view kCodeHeaps[] = {"CodeHeap"};
constexpr std::string_view kMetadata[] = {"Metadata", "Method"};
constexpr std::string_view kThreads[] = {"Thread", "JavaThread", "CompilerThread"};
constexpr std::string_view kStubs[] = {"StubInterface", "InterpreterCodeletInterface"};

constexpr Family kFamilies[] = {
    {kCodeBlobs, "what the code cache holds at a pc"},
    {kCodeHeaps, "the segments of the code cache, virtual up to JDK 17"},
    {kMetadata, "what an interpreted frame and a scope's description hold"},
    {kThreads, "the thread that walks and the thread that is walked"},
    {kStubs, "codelets of the interpreter"},
};

// A walk queries its receivers and does not change them, so only const members count, and those
// listed here.
constexpr std::string_view kAskedThoughNotConst[] = {
    "nmethod::get_original_pc(",  // JDK 17: where a deoptimised frame continues
    "CompiledMethod::get_original_pc(",
};

// True if `function`, without its return type, begins with `prefix`. Only the demangled names of
// template functions begin with a return type.
bool Begins(std::string_view function, std::string_view prefix) {
  if (function.starts_with(prefix)) return true;
  const size_t space = function.find(' ');
  return space != std::string_view::npos && space < function.find_first_of("(<") &&
         function.substr(space + 1).starts_with(prefix);
}

}  // namespace

const char* WhyNotFollowed(std::string_view function) {
  for (const Stop& stop : kStops)
    if (Begins(function, stop.prefix)) return stop.reason;
  const std::string_view name = function.substr(0, function.find('('));
  for (const Stop& stop : kMemberStops)
    if (name.find(stop.prefix) != std::string_view::npos) return stop.reason;
  return nullptr;
}

bool MayBeReceiver(std::string_view class_name) {
  return std::any_of(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) {
    return std::find(family.classes.begin(), family.classes.end(), class_name) !=
           family.classes.end();
  });
}

bool MayBeAsked(std::string_view function) {
  if (function.ends_with(" const")) return true;
  return std::any_of(std::begin(kAskedThoughNotConst), std::end(kAskedThoughNotConst),
                     [&](std::string_view name) { return function.starts_with(name); });
}

bool IsDeathEntry(std::string_view function) {
  return function.starts_with("VMError::report_and_die(");
}

}  // namespace walkhammer
