// SPDX-License-Identifier: Apache-2.0
#include "harness/asgst/process/jvm_hooks.h"

#include <dlfcn.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <string_view>

#include "harness/asgst/include/asgst_hooks.h"
#include "harness/elf/elf_functions.h"

namespace walkhammer::asgst {
namespace {

std::atomic<int> marks{0};

bool AreHooksAllowed() {
  const char* wanted = std::getenv("ASGST_HOOKS");
  return wanted == nullptr || wanted != std::string_view("0");
}

}  // namespace

std::vector<ElfFunction> FunctionsOfJvm(const std::vector<std::string>& symbols) {
  void* libjvm = dlopen("libjvm.so", RTLD_NOW | RTLD_NOLOAD);
  Dl_info file{};
  if (libjvm == nullptr || dladdr(dlsym(libjvm, "JNI_CreateJavaVM"), &file) == 0) return {};
  std::vector<ElfFunction> found = FindFunctions(file.dli_fname, symbols);
  for (ElfFunction& function : found)
    function.address += reinterpret_cast<uint64_t>(file.dli_fbase);
  return found;
}

std::vector<uint64_t> FindInJvm(const std::vector<std::string>& symbols) {
  const std::vector<ElfFunction> found = FunctionsOfJvm(symbols);
  std::vector<uint64_t> addresses;
  for (const std::string& symbol : symbols) {
    const auto one = std::find_if(found.begin(), found.end(),
                                  [&](const ElfFunction& f) { return f.name == symbol; });
    if (one == found.end()) return {};
    addresses.push_back(one->address);
  }
  return addresses;
}

bool CanHook(const std::vector<std::string>& symbols) {
#if defined(__x86_64__)
  return AreHooksAllowed() && !FindInJvm(symbols).empty();
#else
  static_cast<void>(symbols);
  return false;
#endif
}

void AllowTraps() {
  if (!AreHooksAllowed()) return;
  sigset_t traps;
  sigemptyset(&traps);
  sigaddset(&traps, SIGTRAP);
  pthread_sigmask(SIG_UNBLOCK, &traps, nullptr);
}

Status HookJvm(const std::vector<JvmHook>& hooks, int mark) {
  if (!AreHooksAllowed()) return Unable("ASGST_HOOKS is 0");
  std::vector<std::string> symbols;
  for (const JvmHook& hook : hooks) symbols.push_back(hook.symbol);
  const std::vector<uint64_t> entries = FindInJvm(symbols);
  if (entries.empty()) return Unable("this libjvm does not name the functions to hook");
  std::vector<EntryHook> made;
  for (size_t i = 0; i < hooks.size(); i++)
    made.push_back({entries[i], hooks[i].instead, hooks[i].original});
  RETURN_IF_ERROR(HookEntries(made));
  marks.fetch_or(mark);
  return Ok();
}

}  // namespace walkhammer::asgst

int asgst_hooks() { return walkhammer::asgst::marks.load(); }
