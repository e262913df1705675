// SPDX-License-Identifier: Apache-2.0
// Calls a JDK's own functions for failed checks by their addresses.
#include "harness/jvm/live/failed_checks.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <thread>

#include "harness/base/testing/fails_with.h"
#include "harness/elf/elf_functions.h"
#include "harness/jvm/images/jdk.h"
#include "harness/jvm/live/boot.h"

namespace walkhammer {
namespace {

using ReportError = void (*)(const char* file, int line, const char* text);

GuardSlot walking_slot;

TEST(FailedChecks, AJvmsOwnEndACall) {
  const std::vector<Jdk> jdks = FindJdks();
  const auto own = std::find_if(jdks.rbegin(), jdks.rend(),
                                [](const Jdk& jdk) { return jdk.platform.is_own(); });
  if (own == jdks.rend()) GTEST_SKIP() << "no JDK on this machine runs by itself";
  auto booted = Must(Jvm::Boot(own->libjvm, {"-Xmx64m", "-Xrs"}));
  void* library = booted->library();
  GuardOptions options{};
  options.hang_limit_ms = 10000;
  TrapFailedChecks(library, own->libjvm, options);
  if (options.check_report_count == 0) GTEST_SKIP() << own->libjvm << " is stripped";
  EXPECT_GE(options.check_report_count, 4);
  // Its code is in one mapping, and is not writable: profilers read it so.
  std::ifstream maps("/proc/self/maps");
  int plain = 0, writable = 0;
  for (std::string line; std::getline(maps, line);) {
    if (!line.ends_with(own->libjvm)) continue;
    plain += line.find(" r-xp ") != std::string::npos ? 1 : 0;
    writable += line.find(" rwxp ") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(plain, 1);
  EXPECT_EQ(writable, 0);
  ASSERT_TRUE(InstallGuard(options).ok());

  const auto found = FindFunctions(own->libjvm, {"_Z15report_vm_errorPKciS0_"});
  ASSERT_EQ(found.size(), 1U);
  static ReportError report;
  report = reinterpret_cast<ReportError>(LoadBias(dlsym(library, "JNI_CreateJavaVM")) +
                                         found[0].address);
  std::thread([] {
    EnterGuardedThread(walking_slot);
    const auto call = [] { report("/x/frame.cpp", 12, "assert(x) failed"); };
    EXPECT_EQ(GuardedCall(walking_slot, call), Ending::kCrashed);
    EXPECT_STREQ(walking_slot.fault.failed_check, "(frame.cpp:12) assert(x) failed");
    LeaveGuardedThread();
  }).join();
}

}  // namespace
}  // namespace walkhammer
