#include "harness/walkers/provider_library.h"

namespace walkhammer {

Result<ProviderLibrary> ProviderLibrary::Open(const WalkerHost& host) {
  if (host.provider.empty()) return ProviderLibrary(host.libjvm, "");
  void* handle = dlopen(host.provider.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return BadInput(std::string("cannot load the provider: ") + dlerror());
  return ProviderLibrary(handle, host.provider);
}

Failure ProviderLibrary::Lacks(const std::string& function) const {
  if (!name_.empty()) return Unable(name_ + " exports no " + function);
  return Unable("this libjvm exports no " + function +
                ": name a library that does (--provider FILE.so), or use walkhammer's own "
                "(--provider ref)");
}

}  // namespace walkhammer
