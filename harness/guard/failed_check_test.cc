// SPDX-License-Identifier: Apache-2.0
// Failed checks of a JVM that this test simulates: a report ends a guarded call; outside of calls
// the report goes on.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "harness/guard/code_patch.h"
#include "harness/guard/guard.h"

namespace walkhammer {
namespace {

constexpr int kReported = 4711;
constexpr int kLine = 123;

int reports = 0;

// Like HotSpot's report_vm_error and report_fatal, but these return.
__attribute__((noinline)) int ReportError(const char* file, int line, const char* text) {
  asm volatile("" ::"r"(file), "r"(line), "r"(text) : "memory");
  reports++;
  return kReported;
}
__attribute__((noinline)) int ReportFatal(int type, const char* file, int line, const char* text) {
  asm volatile("" ::"r"(file), "r"(type), "r"(line), "r"(text) : "memory");
  reports++;
  return kReported;
}
__attribute__((noinline)) int ReportUnreachable(const char* file, int line) {
  asm volatile("" ::"r"(file), "r"(line) : "memory");
  reports++;
  return kReported;
}

const uint64_t kEntries[] = {reinterpret_cast<uint64_t>(&ReportError),
                             reinterpret_cast<uint64_t>(&ReportFatal),
                             reinterpret_cast<uint64_t>(&ReportUnreachable)};

GuardSlot own_slot;

class FailedCheckTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    GuardOptions options{};
    options.hang_limit_ms = 10000;
    options.check_reports[0] = {kEntries[0], ReadCode(kEntries[0]), 0, 1, 2};
    options.check_reports[1] = {kEntries[1], ReadCode(kEntries[1]), 1, 2, 3};
    options.check_reports[2] = {kEntries[2], ReadCode(kEntries[2]), 0, 1, -1};
    options.check_report_count = 3;
    std::vector<uint64_t> sorted(std::begin(kEntries), std::end(kEntries));
    std::sort(sorted.begin(), sorted.end());
    ASSERT_TRUE(MakeCodeWritable(sorted, "no test").ok());
    for (const uint64_t entry : kEntries) WriteCode(entry, kTrapCode);
    MakeCodeUnwritable(sorted);  // as the JVM's is; the guard makes it writable to lift a trap
    ASSERT_TRUE(InstallGuard(options).ok());
    EnterGuardedThread(own_slot);
  }
  void SetUp() override {
    if (reports != 0)  // the traps were lifted
      for (const uint64_t entry : kEntries) WriteCode(entry, kTrapCode);
    reports = 0;
  }

  static std::string Check() { return own_slot.fault.failed_check; }
  static void ExpectCheck(const std::string& said, FunctionRef<void()> walk) {
    EXPECT_EQ(GuardedCall(own_slot, walk), Ending::kCrashed);
    EXPECT_EQ(Check(), said);
  }
};

TEST_F(FailedCheckTest, EndsTheCall) {
  bool went_on = false;
  const auto call = [&] {
    ReportError("/build/src/share/runtime/frame.cpp", kLine, "assert(is_java_frame()) failed");
    went_on = true;
  };
  ASSERT_EQ(GuardedCall(own_slot, call), Ending::kCrashed);
  EXPECT_EQ(Check(), "(frame.cpp:123) assert(is_java_frame()) failed");
  EXPECT_EQ(own_slot.fault.signal, SIGABRT);
  EXPECT_FALSE(went_on);
  EXPECT_EQ(reports, 0);
  // The site is the caller, not the report.
  EXPECT_NE(own_slot.fault.registers.pc, kEntries[0]);
  EXPECT_NE(own_slot.fault.registers.pc, kEntries[0] + 1);
}

TEST_F(FailedCheckTest, EachReportHasArgumentsOfItsOwn) {
  ExpectCheck("(a.cpp:2147483647) fatal: %d",
              [] { ReportFatal(7, "a.cpp", 2147483647, "fatal: %d"); });
  ExpectCheck("(c.hpp:0) ", [] { ReportUnreachable("/b/c.hpp", 0); });
  ExpectCheck("(:1) ", [] { ReportError(nullptr, 1, nullptr); });
}

TEST_F(FailedCheckTest, ALongTextIsCut) {
  static const std::string text(1000, 'x');
  const auto call = [] { ReportError("a.cpp", 1, text.c_str()); };
  ASSERT_EQ(GuardedCall(own_slot, call), Ending::kCrashed);
  EXPECT_EQ(Check().size(), sizeof own_slot.fault.failed_check - 1);
  EXPECT_TRUE(Check().starts_with("(a.cpp:1) xxx"));
}

TEST_F(FailedCheckTest, AnUnreadableTextEndsTheCallAllTheSame) {
  const auto call = [] { ReportError("a.cpp", 1, reinterpret_cast<const char*>(0x10)); };
  ASSERT_EQ(GuardedCall(own_slot, call), Ending::kCrashed);
  EXPECT_EQ(reports, 0);
}

TEST_F(FailedCheckTest, OutsideOfACallTheReportGoesOn) {
  EXPECT_EQ(ReportError("a.cpp", 1, "x"), kReported);
  EXPECT_EQ(reports, 1);
  // As the process dies, all traps are removed.
  for (const uint64_t entry : kEntries) EXPECT_NE(ReadCode(entry), kTrapCode);
}

// From now on, mprotect fails as where a mapping more is too many. False: the kernel forbids that.
bool ForbidMprotect() {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOMEM),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST_F(FailedCheckTest, ATrapThatCannotBeLiftedEndsTheProcess) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  constexpr int kNotForbidden = 77;
  const auto report = [] {
    if (!ForbidMprotect()) _exit(kNotForbidden);
    alarm(20);  // it would come again endlessly
    ReportError("a.cpp", 1, "x");
    _exit(0);
  };
  const auto ended = [](int status) {
    return (WIFSIGNALED(status) && WTERMSIG(status) == SIGTRAP) ||
           (WIFEXITED(status) && WEXITSTATUS(status) == kNotForbidden);
  };
  EXPECT_EXIT(report(), ended, "");
}

TEST_F(FailedCheckTest, AFaultIsNoFailedCheck) {
  ExpectCheck("(a.cpp:1) x", [] { ReportError("a.cpp", 1, "x"); });
  ExpectCheck("", [] { *reinterpret_cast<volatile int*>(0x10) = 1; });
  EXPECT_EQ(own_slot.fault.signal, SIGSEGV);
}

}  // namespace
}  // namespace walkhammer
