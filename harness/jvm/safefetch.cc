#include "harness/jvm/safefetch.h"

#include <dlfcn.h>

#include <algorithm>
#include <iterator>

#include "harness/jvm/elf_functions.h"

namespace walkhammer {

void FindSafeFetch(const Jvm& jvm, const std::string& libjvm, GuardOptions& options) {
  size_t count = 0;
  auto add = [&](uint64_t begin, uint64_t end) {
    if (count < std::size(options.safefetch)) options.safefetch[count++] = {begin, end};
  };
  Dl_info info{};
  if (dladdr(dlsym(jvm.library(), "JNI_CreateJavaVM"), &info) != 0) {
    const auto base = reinterpret_cast<uint64_t>(info.dli_fbase);
    for (const ElfFunction& function :
         FindFunctions(libjvm, {"SafeFetch32_impl", "SafeFetchN_impl"}))
      add(base + function.address, base + function.address + std::max<uint64_t>(function.size, 16));
  }
  for (const NamedCode& stub : jvm.Stubs())
    if (stub.name.find("SafeFetch") != std::string::npos) add(stub.begin, stub.end);
}

}  // namespace walkhammer
