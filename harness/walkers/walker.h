// SPDX-License-Identifier: Apache-2.0
// Walker: one stack-walking API under test, behind one interface. A new walker is one file and
// one row of request/walker_rows.inc.
// Signal-safe: Walk yes (it runs in the bracket); the rest no.
#ifndef WALKHAMMER_HARNESS_WALKERS_WALKER_H_
#define WALKHAMMER_HARNESS_WALKERS_WALKER_H_

#include <jni.h>
#include <ucontext.h>

#include <string>

#include "harness/base/result.h"
#include "harness/base/trace.h"
#include "harness/jvm/structs/vm_structs.h"

namespace walkhammer {

// What a walker may bind to.
struct WalkerHost {
  void* libjvm;  // dlopen handle
  const JvmLayout* layout;
  JavaVM* vm;
  std::string provider = {};  // a library to use instead of libjvm, see WalkerInfo::replaceable
  // Returns true if a jmethodID is that of a native method. May be null. Signal-safe.
  bool (*is_native)(void* method_id) = nullptr;
  std::string option = "--provider";  // of the verb, to name `provider`
};

struct WalkInput {
  ucontext_t* context;  // what the walker is shown as the interrupted registers
  JNIEnv* env;          // of the current thread
  int32_t depth;        // 1 .. WalkRequest::kMaxDepth
  uint32_t options;
};

// num_frames of a trace before the call; no walker returns this value.
inline constexpr jint kNoAnswer = -9999;

class Walker {
 public:
  virtual ~Walker() = default;
  // Finds the API; fails with kUnable where the provider lacks it.
  virtual Status Bind(const WalkerHost& host) = 0;
  // Walks the current thread. The walker under test may do anything, crash included.
  virtual void Walk(const WalkInput& input, Trace& trace) = 0;
  // After a Walk that returned: false if the walker wrote outside of its `depth` frames.
  virtual bool BufferIntact(const WalkInput& input) const = 0;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_WALKERS_WALKER_H_
