// SPDX-License-Identifier: Apache-2.0
// Finds the static variables of real JDKs.
#include "harness/jvm/live/walked_statics.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "harness/jvm/images/jdk.h"

namespace walkhammer {
namespace {

const void* LibraryBase(void* libjvm) {
  Dl_info place{};
  return dladdr(dlsym(libjvm, "JNI_CreateJavaVM"), &place) != 0 ? place.dli_fbase : nullptr;
}

TEST(WalkedStatics, AJvmWithContinuationsHasOne) {
  int seen = 0;
  for (const Jdk& jdk : FindJdks()) {
    if (!jdk.platform.is_own()) continue;
    void* libjvm = dlopen(jdk.libjvm.c_str(), RTLD_LAZY | RTLD_LOCAL);
    ASSERT_NE(libjvm, nullptr) << dlerror();
    const WalkedStatics statics = WalkedStatics::Find(libjvm, jdk.libjvm);
    const bool has_one = jdk.feature >= 21 && !jdk.stripped;
    ASSERT_EQ(statics.guards().size(), has_one ? 1U : 0U) << jdk.libjvm;
    if (!has_one) continue;
    seen++;
    Dl_info place{};
    ASSERT_NE(dladdr(statics.guards()[0], &place), 0);
    EXPECT_EQ(place.dli_fbase, LibraryBase(libjvm)) << "its address is not in that libjvm";
  }
  if (seen == 0) GTEST_SKIP() << "no JDK from 21 on that runs by itself has symbols";
}

}  // namespace
}  // namespace walkhammer
