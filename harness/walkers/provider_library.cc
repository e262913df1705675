// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/provider_library.h"

#include <filesystem>

#include "harness/asgst/include/asgst.h"

namespace walkhammer {
namespace {

constexpr jint kLongestWait = 10'000;  // ms; an idle machine needs hundreds of ms

}  // namespace

Result<void*> OpenReference(JavaVM* vm) {
  Dl_info own{};
  dladdr(reinterpret_cast<const void*>(&OpenReference), &own);
  std::error_code error;
  const auto self = std::filesystem::canonical(own.dli_fname, error);
  const std::string path = self.parent_path() / "libasgst.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    return Unable(std::string("cannot load the reference provider: ") + dlerror());
  decltype(&asgst_attach) attach = nullptr;
  decltype(&asgst_error) reason = nullptr;
  decltype(&asgst_wait_for_c_frames) wait = nullptr;
  RETURN_IF_ERROR(FindIn(library, "asgst_attach", attach, "asgst_error", reason,
                         "asgst_wait_for_c_frames", wait));
  if (attach(vm) != 0) return Unable(std::string("the reference provider: ") + reason());
  // Until .eh_frame is read, the callers of libjvm's and libc's functions are a guess.
  wait(kLongestWait);
  return library;
}

Result<ProviderLibrary> ProviderLibrary::Open(const WalkerHost& host) {
  if (host.provider.empty()) return ProviderLibrary(host.libjvm, host);
  void* handle = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  ProviderLibrary library(handle, host);
  decltype(&asgst_attach) attach = nullptr;
  decltype(&asgst_error) reason = nullptr;
  library.Find("asgst_attach", attach);
  library.Find("asgst_error", reason);
  if (attach != nullptr && attach(host.vm) != 0)
    return Unable(host.provider + ": " +
                  (reason == nullptr ? "asgst_attach refuses this JVM" : reason()));
  return library;
}

Failure ProviderLibrary::Lacks(const std::string& function) const {
  if (!name_.empty()) return Unable(name_ + " exports no " + function);
  // Where the walker is a file's, no option names another provider.
  const std::string own =
      option_ == "--provider" ? ", or use walkhammer's own (--provider ref)" : "";
  return Unable("this libjvm exports no " + function + ": name a library that does (" + option_ +
                " FILE.so)" + own);
}

}  // namespace walkhammer
