// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/profiler_library.h"

#include <dlfcn.h>
#include <link.h>

#include <map>

#include "harness/guard/guard.h"

namespace walkhammer {
namespace {

struct Initialisation {
  void* library;
  JavaVM* vm;
};

// Without options, attaching does nothing but to initialise the library.
Status Attach(void* data) {
  const auto& with = *static_cast<Initialisation*>(data);
  using AttachFunction = jint(JavaVM*, char*, void*);
  auto* attach = reinterpret_cast<AttachFunction*>(dlsym(with.library, "Agent_OnAttach"));
  if (attach == nullptr) return Unable("exports no Agent_OnAttach");
  char options[] = "";
  const jint code = attach(with.vm, options, nullptr);
  if (code == 0) return Ok();
  return Unable("refuses this JVM: Agent_OnAttach returns " + std::to_string(code));
}

// Each library initialises itself once: the agent has many walkers.
Status InitialiseOnce(const std::string& path, Initialisation with) {
  static std::map<std::string, Status> done;
  const auto found = done.find(path);
  if (found != done.end()) return found->second;
  return done.emplace(path, AdoptWalkersProtection(Attach, &with)).first->second;
}

}  // namespace

Result<ProfilerLibrary> ProfilerLibrary::Open(const WalkerHost& host, const std::string& profiler) {
  if (host.provider.empty())
    return Unable("this is a walker of " + profiler + ": name its library (--provider FILE.so)");
  void* library = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return ToolFailed(std::string("cannot tell where the provider lies: ") + dlerror());
  const Status status = InitialiseOnce(host.provider, {library, host.vm});
  if (!status.ok()) return Unable(host.provider + " " + status.failure().message);
  return ProfilerLibrary(host.provider, map->l_addr);
}

std::vector<ElfFunction> ProfilerLibrary::Functions(std::string_view prefix) const {
  std::vector<ElfFunction> out;
  for (ElfFunction& function : FindFunctionsLike(path_, prefix))
    if (function.name.find('.') == std::string::npos) out.push_back(std::move(function));
  return out;
}

void* ProfilerLibrary::AddressOf(const ElfFunction& function) const {
  return reinterpret_cast<void*>(function.address + bias_);
}

}  // namespace walkhammer
