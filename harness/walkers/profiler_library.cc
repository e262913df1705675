// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/profiler_library.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "harness/elf/demangle.h"
#include "harness/elf/elf_functions.h"
#include "harness/guard/guard.h"
#include "harness/request/walker_table.h"

namespace walkhammer {
namespace {

template <typename Function>
Function* Exported(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// As System.load does, and then the Java class of java-profiler's library, from 1.19 on by init0.
Status Load(void* library, JavaVM* vm, jint (*load)(JavaVM*, void*)) {
  if (load(vm, nullptr) <= 0) return Unable("refuses this JVM: JNI_OnLoad returns no version");
  auto* init = Exported<jboolean(JNIEnv*, jclass)>(
      library, "Java_com_datadoghq_profiler_JavaProfiler_init0");
  if (init == nullptr) return Ok();
  JNIEnv* env = nullptr;
  if (vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_6) != JNI_OK)
    return Unable("is loaded by a thread that the JVM does not know");
  return init(env, nullptr) != 0 ? Ok() : Unable("refuses this JVM: init0 returns false");
}

// Without options, attaching does nothing but to initialise the library.
Status Attach(void* library, JavaVM* vm) {
  auto* attach = Exported<jint(JavaVM*, char*, void*)>(library, "Agent_OnAttach");
  auto* load = Exported<jint(JavaVM*, void*)>(library, "JNI_OnLoad");
  if (attach == nullptr && load == nullptr)
    return Unable("exports neither Agent_OnAttach nor JNI_OnLoad");
  if (attach == nullptr) return Load(library, vm, load);
  char options[] = "";
  const jint code = attach(vm, options, nullptr);
  if (code == 0) return Ok();
  return Unable("refuses this JVM: Agent_OnAttach returns " + std::to_string(code));
}

// Each library initialises itself once: the agent has many walkers.
Status InitialiseOnce(const std::string& path, void* library, JavaVM* vm) {
  static std::map<std::string, Status> done;
  const auto found = done.find(path);
  if (found != done.end()) return found->second;
  const Status status = AdoptWalkersProtection([&] { return Attach(library, vm); });
  return done.emplace(path, status).first->second;
}

}  // namespace

Result<ProfilerLibrary> ProfilerLibrary::Open(const WalkerHost& host, const std::string& profiler) {
  if (host.provider.empty())
    return Unable("this is a walker of " + profiler + ": name its library (" + host.option +
                  " FILE.so)");
  void* library = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return ToolFailed(std::string("cannot find where the provider is loaded: ") + dlerror());
  const Status status = InitialiseOnce(host.provider, library, host.vm);
  if (!status.ok()) return Unable(host.provider + " " + status.failure().message);
  return ProfilerLibrary(host.provider, map->l_addr);
}

Result<ProfilerLibrary::Form> ProfilerLibrary::Find(const std::string& name,
                                                    std::span<const char* const> prefixes,
                                                    std::span<const std::string_view> forms) const {
  std::string others;
  size_t index = forms.size();
  uint64_t address = 0;
  std::vector<ElfFunction> functions;
  for (const char* prefix : prefixes)
    for (ElfFunction& function : FindFunctionsLike(path_, prefix))
      functions.push_back(std::move(function));
  for (const ElfFunction& function : functions) {
    if (function.name.find('.') != std::string::npos) continue;
    others += " " + Demangle(function.name);
    const auto at =
        static_cast<size_t>(std::find(forms.begin(), forms.end(), function.name) - forms.begin());
    if (at >= index) continue;
    index = at;
    address = function.address + bias_;
  }
  if (index < forms.size()) return Form{index, reinterpret_cast<void*>(address)};
  if (others.empty()) return Unable(path_ + " has no function " + name);
  return Unable(path_ + " has " + name + " with an unknown signature:" + others);
}

void* ProfilerLibrary::Variable(std::string_view name) const {
  const std::vector<ElfFunction> found = FindFunctions(path_, {std::string(name)});
  return found.empty() ? nullptr : reinterpret_cast<void*>(found[0].address + bias_);
}

}  // namespace walkhammer
