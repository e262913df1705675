// SPDX-License-Identifier: Apache-2.0
// plugin: a walker of the user's own, in a library with the interface of walkhammer_walker.h.
#include <dlfcn.h>

#include <cstddef>
#include <map>

#include "harness/guard/guard.h"
#include "harness/walkers/canary_buffer.h"
#include "harness/walkers/include/walkhammer_walker.h"
#include "harness/walkers/makers.h"

namespace walkhammer {
namespace {

// Frames are passed on without a copy.
static_assert(sizeof(walkhammer_frame) == sizeof(Frame));
static_assert(offsetof(walkhammer_frame, kind) == offsetof(Frame, kind));
static_assert(offsetof(walkhammer_frame, method) == offsetof(Frame, method));

// Each library is set up once: the agent has many walkers.
Status SetUpOnce(const std::string& path, void* library, JavaVM* vm) {
  static std::map<std::string, Status> done;
  const auto found = done.find(path);
  if (found != done.end()) return found->second;
  auto* setup = reinterpret_cast<decltype(&walkhammer_setup)>(dlsym(library, "walkhammer_setup"));
  const Status status = AdoptWalkersProtection([&]() -> Status {
    const char* why = setup == nullptr ? nullptr : setup(vm);
    return why == nullptr ? Ok() : Unable(path + ": " + why);
  });
  return done.emplace(path, status).first->second;
}

class PluginWalker : public Walker {
 public:
  Status Bind(const WalkerHost& host) override {
    if (host.provider.empty())
      return Unable("plugin is a walker of your own: name its library (--walker plugin:FILE.so)");
    void* library = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return BadInput(std::string("cannot load the plugin: ") + dlerror());
    walk_ = reinterpret_cast<decltype(walk_)>(dlsym(library, "walkhammer_walk"));
    if (walk_ == nullptr)
      return Unable(host.provider + " exports no walkhammer_walk: see walkhammer_walker.h");
    return SetUpOnce(host.provider, library, host.vm);
  }

  void Walk(const WalkInput& input, Trace& trace) override {
    walkhammer_frame* frames = buffer_.Paint(input.depth);
    trace.num_frames = walk_(input.context, input.env, frames, input.depth);
    trace.frames = reinterpret_cast<Frame*>(frames);
  }

  bool BufferIntact(const WalkInput& input) const override { return buffer_.Intact(input.depth); }

 private:
  decltype(&walkhammer_walk) walk_ = nullptr;
  CanaryBuffer<walkhammer_frame> buffer_;
};

}  // namespace

std::unique_ptr<Walker> MakePlugin() { return std::make_unique<PluginWalker>(); }

}  // namespace walkhammer
