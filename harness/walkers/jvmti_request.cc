// SPDX-License-Identifier: Apache-2.0
// request: RequestStackTrace, the JVMTI extension function of JEP draft 8380294 (JDK-8383923). It
// walks nothing: the JVM promises to, at the thread's next safepoint, and answers by a JFR event
// StackTraceRequest. The backend "request" reads these events. No JDK has it yet.
#include <dlfcn.h>
#include <jvmti.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string_view>

#include "harness/base/trace_ticket.h"
#include "harness/walkers/makers.h"
#include "harness/walkers/walker.h"

namespace walkhammer {
namespace {

constexpr char kName[] = "RequestStackTrace";
// A null thread is the current one. With the context of a signal handler, which the JVM may ask for
// where the thread is; safe in that handler.
using RequestFunction = jvmtiError(jvmtiEnv*, jthread, void* ucontext, jlong user_data);

constexpr int kPromised = 0, kNotAvailable = -1, kInvalidThread = -2;
constexpr int kOtherErrors = -1000;  // minus the jvmtiError: not declared

struct Extension {
  jvmtiEnv* jvmti = nullptr;
  RequestFunction* request = nullptr;
};

std::atomic<uint64_t> last_number{0};

// The id is a name in the manner of Java packages, whose package the draft leaves open.
bool IsNamed(const char* id) {
  const std::string_view all(id);
  return all.substr(all.rfind('.') + 1) == kName;
}

Result<RequestFunction*> FindExtension(jvmtiEnv* jvmti) {
  jint count = 0;
  jvmtiExtensionFunctionInfo* infos = nullptr;
  if (jvmti->GetExtensionFunctions(&count, &infos) != JVMTI_ERROR_NONE)
    return Unable("this JVM does not list its JVMTI extensions");
  for (int i = 0; i < count; i++) {
    if (!IsNamed(infos[i].id)) continue;
    if (infos[i].param_count != 3)
      return Unable(std::string("this JVM has ") + infos[i].id + " with an unknown signature: of " +
                    std::to_string(infos[i].param_count) + " parameters");
    return reinterpret_cast<RequestFunction*>(infos[i].func);
  }
  return Unable("this JVM has no JVMTI extension RequestStackTrace (JEP draft 8380294)");
}

Result<RequestFunction*> FindRequestFunction(const std::string& provider) {
  void* library = dlopen(provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  auto* found = reinterpret_cast<RequestFunction*>(dlsym(library, kName));
  if (found == nullptr) return Unable(provider + " does not export " + kName);
  return found;
}

Result<Extension> Find(const WalkerHost& host) {
  void* jvmti = nullptr;
  if (host.vm->GetEnv(&jvmti, JVMTI_VERSION_1_2) != JNI_OK) return Unable("this JVM has no JVMTI");
  Extension extension;
  extension.jvmti = static_cast<jvmtiEnv*>(jvmti);
  ASSIGN_OR_RETURN(extension.request, host.provider.empty() ? FindExtension(extension.jvmti)
                                                            : FindRequestFunction(host.provider));
  return extension;
}

// One JVMTI environment serves all walkers of a process: the agent has many.
const Result<Extension>& FindOnce(const WalkerHost& host) {
  static const Result<Extension> found = Find(host);
  return found;
}

class RequestWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    ASSIGN_OR_RETURN(extension_, FindOnce(host));
    return Ok();
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    const TraceTicket ticket{static_cast<int32_t>(syscall(SYS_gettid)), ++last_number};
    trace.frames = nullptr;
    trace.num_frames =
        CodeOf(extension_.request(extension_.jvmti, nullptr, input.context, ticket.ToUserData()));
  }

  bool BufferIntact(const WalkInput&) const override { return true; }

 private:
  static int CodeOf(jvmtiError error) {
    switch (error) {
      case JVMTI_ERROR_NONE:
        return kPromised;
      case JVMTI_ERROR_NOT_AVAILABLE:
        return kNotAvailable;
      case JVMTI_ERROR_INVALID_THREAD:
        return kInvalidThread;
      default:
        return kOtherErrors - static_cast<int>(error);
    }
  }

  Extension extension_;
};

}  // namespace

std::unique_ptr<Walker> MakeRequest() { return std::make_unique<RequestWalker>(); }

}  // namespace walkhammer
