// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/reference_library.h"

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

}  // namespace walkhammer
