// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/provider_library.h"

#include "harness/asgst/include/asgst.h"

namespace walkhammer {

Result<ProviderLibrary> ProviderLibrary::Open(const WalkerHost& host) {
  if (host.provider.empty()) return ProviderLibrary(host.libjvm, "");
  void* handle = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  ProviderLibrary library(handle, host.provider);
  decltype(&asgst_attach) attach = nullptr;
  decltype(&asgst_error) reason = nullptr;
  library.Find("asgst_attach", attach);
  library.Find("asgst_error", reason);
  if (attach != nullptr && attach(host.vm) != 0)
    return Unable(host.provider + ": " +
                  (reason == nullptr ? "asgst_attach does not want this JVM" : reason()));
  return library;
}

Failure ProviderLibrary::Lacks(const std::string& function) const {
  if (!name_.empty()) return Unable(name_ + " exports no " + function);
  return Unable("this libjvm exports no " + function +
                ": name a library that does (--provider FILE.so), or use walkhammer's own "
                "(--provider ref)");
}

}  // namespace walkhammer
