// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/signature.h"

#include <gtest/gtest.h>

#include <csignal>

#include "harness/request/scene_table.h"
#include "harness/store/record_testing.h"

namespace walkhammer {

// These functions stand for functions of the VM and of the C runtime; only the names matter.
__attribute__((noinline)) int SignatureVm(int x) {
  asm volatile("");
  return x + 1;
}
__attribute__((noinline)) int SignatureVm(long x, long y) {
  asm volatile("");
  return static_cast<int>(x * y);
}

namespace {

const uint64_t kVm = reinterpret_cast<uint64_t>(static_cast<int (*)(int)>(&SignatureVm));
const uint64_t kVmTwo = reinterpret_cast<uint64_t>(static_cast<int (*)(long, long)>(&SignatureVm));

// A symbolic link with the name of a library makes the test binary pass for libjvm.so or another.
class SignatureTest : public testing::Test {
 protected:
  Symbolizer Symbols(const char* name) const {
    Module module = own_;
    std::error_code ignored;
    std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"),
                                    dir_.Under(name), ignored);
    SetField(module.path, dir_.Under(name));
    return Symbolizer(std::span(&module, 1));
  }
  std::string KeyOf(const RawFinding& finding) const { return SignatureOf(finding, symbols_).key; }
  std::string KeyAt(RawFinding& finding, std::vector<uint64_t> chain) const {
    SetChain(finding, std::move(chain));
    return KeyOf(finding);
  }

  const TemporaryFolder dir_;
  const Module own_ = OwnModules()[0];
  const std::string build_ = own_.build_id, suffix_ = build_.empty() ? "" : " build " + build_;
  const Symbolizer symbols_ = Symbols("libjvm.so");
};

TEST_F(SignatureTest, CrashInAModule) {
  auto finding = NewFinding("crash", "fault");
  SetChain(*finding, {kVm + 3, kVmTwo + 2});
  const Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key,
            "crash SIGSEGV libjvm.so walkhammer::SignatureVm(int)+0x3 from "
            "walkhammer::SignatureVm(long, long)" +
                suffix_);
  // What the instruction there does to memory is the compiler's choice.
  EXPECT_THAT(signature.title,
              testing::MatchesRegex("crash in walkhammer::SignatureVm( (reading|writing) .*)?, "
                                    "called from walkhammer::SignatureVm"));
  EXPECT_EQ(signature.expect, "crash walkhammer::SignatureVm(int)+0x3");
  EXPECT_EQ(signature.oracle, "crash");
  EXPECT_EQ(NativeChainText(*finding, symbols_),
            "libjvm.so walkhammer::SignatureVm(int)+0x3\n"
            "libjvm.so walkhammer::SignatureVm(long, long)+0x2\n");
  // A finding with another caller, signal or place is another bug; one that was called from
  // another place of the same function is not.
  EXPECT_EQ(KeyAt(*finding, {kVm + 3, kVmTwo + 3}), signature.key);
  EXPECT_EQ(KeyAt(*finding, {kVm + 3}),
            "crash SIGSEGV libjvm.so walkhammer::SignatureVm(int)+0x3" + suffix_);
  EXPECT_NE(KeyAt(*finding, {kVm + 2, kVmTwo + 2}), signature.key);
  SetChain(*finding, {kVm + 3, 0x10});  // a caller in no module
  EXPECT_THAT(SignatureOf(*finding, symbols_).title,
              testing::Not(testing::HasSubstr("called from")));
  SetChain(*finding, {kVm + 3, kVmTwo + 2});
  finding->fault.signal = SIGBUS;
  EXPECT_NE(KeyOf(*finding), signature.key);
  EXPECT_EQ(SignatureOf(*finding, symbols_).expect, signature.expect);
}

TEST_F(SignatureTest, ALoadThatFailedIsItsPlace) {
  auto finding = NewFinding("failing-load", "unprotected");
  SetChain(*finding, {kVm + 3, kVmTwo + 2});
  const Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key,
            "failing-load/unprotected in libjvm.so walkhammer::SignatureVm(int)+0x3" + suffix_);
  EXPECT_THAT(signature.title,
              testing::StartsWith("failing-load/unprotected in walkhammer::SignatureVm"));
  EXPECT_EQ(signature.expect, "failing-load/unprotected in walkhammer::SignatureVm(int)+0x3");
  EXPECT_EQ(MatchesExpect(signature.expect, signature), Match::kExact);
  EXPECT_EQ(
      MatchesExpect("failing-load/unprotected in walkhammer::SignatureVm(int)+0x9", signature),
      Match::kFunction);
  EXPECT_EQ(KeyAt(*finding, {0x10}), "failing-load/unprotected");
}

TEST_F(SignatureTest, CrashInTheCRuntimeIsItsCallers) {
  const Symbolizer runtime = Symbols("libc.so.6");
  std::vector<Module> modules = OwnModules();
  auto finding = NewFinding("crash", "fault");
  SetChain(*finding, {kVm + 3});
  EXPECT_EQ(SignatureOf(*finding, runtime).title, "crash in walkhammer::SignatureVm");
  // Two modules of the same file: libc.so.6 holds [kVm, kVm + 4), the test binary the rest.
  modules[1] = modules[0];
  SetField(modules[0].path, dir_.Under("libc.so.6"));
  modules[0].end = kVm + 4;
  modules[0].start = kVm;
  modules.resize(2);
  const Symbolizer both(modules);
  SetChain(*finding, {kVm + 3, kVmTwo + 2});
  const Signature signature = SignatureOf(*finding, both);
  EXPECT_EQ(signature.title,
            "crash in walkhammer::SignatureVm, called from walkhammer::SignatureVm");
  EXPECT_EQ(signature.expect,
            "crash walkhammer::SignatureVm(int)+0x3 from walkhammer::SignatureVm(long, long)+0x2");
  EXPECT_NE(signature.key.find(" from "), std::string::npos);
}

TEST_F(SignatureTest, CrashOutsideOfModules) {
  auto finding = NewFinding("crash", "fault");
  SetChain(*finding, {0x10, 0x20, kVm + 3});
  Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key,
            "crash SIGSEGV unmapped pc from libjvm.so walkhammer::SignatureVm(int)+0x3" + suffix_);
  EXPECT_EQ(signature.title, "crash at unmapped pc, called from walkhammer::SignatureVm");
  EXPECT_EQ(signature.expect, "crash unmapped pc from walkhammer::SignatureVm(int)+0x3");
  EXPECT_EQ(NativeChainText(*finding, symbols_),
            "unmapped pc\n(in no module)\nlibjvm.so walkhammer::SignatureVm(int)+0x3\n");
  SetChain(*finding, {0x10});
  SetField(finding->where, "stub \"call_stub\"+0x1f");
  signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key, "crash SIGSEGV stub \"call_stub\"+0x1f");
  EXPECT_EQ(signature.title, "crash in stub \"call_stub\"");
  SetField(finding->where, "anonymous memory at 0x00007f0012345678");
  EXPECT_EQ(KeyOf(*finding), "crash SIGSEGV anonymous memory at 0x?");
  SetField(finding->where, "");
  SetChain(*finding, {0});
  EXPECT_EQ(SignatureOf(*finding, symbols_).title, "crash at unmapped pc");
}

TEST_F(SignatureTest, HangsJoinByFunction) {
  auto finding = NewFinding("hang", "hang");
  SetChain(*finding, {0x10, kVm + 3, kVmTwo + 2});
  const Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key, "hang libjvm.so walkhammer::SignatureVm(int)" + suffix_);
  EXPECT_EQ(signature.title, "hang in walkhammer::SignatureVm");
  EXPECT_EQ(signature.expect, "hang walkhammer::SignatureVm(int)");
  EXPECT_EQ(KeyAt(*finding, {kVm + 2}), signature.key);
  EXPECT_EQ(KeyAt(*finding, {0x10}), "hang unknown code");
}

TEST_F(SignatureTest, ALoopIsNamedByTheFunctionInsideOfWhatLasted) {
  auto finding = NewFinding("hang", "hang");
  SetChain(*finding, {kVm + 3, kVmTwo + 2, 0x20});
  const std::string innermost = "hang walkhammer::SignatureVm(int)";
  const std::string caller = "hang walkhammer::SignatureVm(long, long)";
  const auto expect_with = [&](int lasting_calls, uint64_t looping, int returns = 1) {
    finding->fault.lasting_calls = lasting_calls;
    finding->fault.looping = looping;
    finding->fault.looping_returns = returns;
    return SignatureOf(*finding, symbols_).expect;
  };
  EXPECT_EQ(expect_with(1, kVmTwo + 3), caller);  // in another look it had called
  EXPECT_EQ(expect_with(1, kVm + 3), innermost);
  EXPECT_EQ(expect_with(2, kVm + 3), innermost);
  EXPECT_EQ(expect_with(1, kVmTwo, 0), caller);  // a pc may be the first instruction's
  EXPECT_NE(expect_with(1, kVmTwo, 1), caller);
  EXPECT_EQ(expect_with(1, 0x10), innermost);  // only 0x20 lasted: as if nothing were known
  EXPECT_EQ(expect_with(2, 0x10), caller);     // the function that calls it
  for (const int bad : {3, 1000}) EXPECT_EQ(expect_with(bad, kVmTwo + 3), innermost);
  EXPECT_EQ(expect_with(-1, kVmTwo + 3), caller);
  EXPECT_EQ(expect_with(1, 0), innermost);
}

// A walker that is wrong about one scene may be right about all others.
TEST_F(SignatureTest, WhatIsUntrueNamesTheScene) {
  auto finding = NewFinding("truth", "no-frames");
  const Signature first = SignatureOf(*finding, symbols_);
  EXPECT_EQ(first.title, std::string("truth/no-frames in scene ") + AllScenes()[0].name);
  EXPECT_EQ(first.key, first.title);
  EXPECT_EQ(first.expect, "truth/no-frames");
  finding->request.scene = 1;
  EXPECT_EQ(SignatureOf(*finding, symbols_).title,
            std::string("truth/no-frames in scene ") + AllScenes()[1].name);
  finding->request.scene = 255;
  EXPECT_EQ(SignatureOf(*finding, symbols_).title, "truth/no-frames");
}

TEST_F(SignatureTest, OtherOraclesNameTheOutcome) {
  auto finding = NewFinding("errno", "changed");
  SetField(finding->detail, "frame 3");
  Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key, "errno/changed");
  EXPECT_EQ(signature.title, signature.key);
  SetField(finding->detail, "frame 4");
  EXPECT_EQ(KeyOf(*finding), signature.key);

  finding = NewFinding("signal-safety", "unsafe-call");
  SetChain(*finding, {kVm + 3});
  signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key, "signal-safety/unsafe-call in libjvm.so walkhammer::SignatureVm(int)");
  EXPECT_EQ(signature.title, "signal-safety/unsafe-call in walkhammer::SignatureVm");
  // A crash later in the same walk does not make this finding a crash.
  finding->ending = Ending::kCrashed;
  EXPECT_EQ(KeyOf(*finding), signature.key);
}

// A call that never returns may be the last instruction of its function.
TEST_F(SignatureTest, ACallAtTheEndOfAFunctionIsThatFunctions) {
  const std::string name = "walkhammer::SignatureVm(int)";
  uint64_t end = kVm;
  while (symbols_.Resolve(end).function == name) end++;
  ASSERT_GT(end, kVm);
  auto finding = NewFinding("signal-safety", "unsafe-call");
  EXPECT_EQ(KeyAt(*finding, {end}), "signal-safety/unsafe-call in libjvm.so " + name);
  // Where it crashes is not a return address.
  finding = NewFinding("crash", "fault");
  EXPECT_EQ(KeyAt(*finding, {end}).find(name), std::string::npos);
}

TEST_F(SignatureTest, FindingsOfADamagedChildAreStillSigned) {
  auto finding = std::make_unique<RawFinding>();
  std::memset(static_cast<void*>(finding.get()), 0xff, sizeof(RawFinding));
  EXPECT_EQ(KeyOf(*finding), "oracle-255/outcome-255");
  EXPECT_EQ(NativeChainText(*finding, symbols_).find("libjvm"), std::string::npos);
}

std::string HsErr(const std::string& error, const std::string& frame) {
  return "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  " + error +
         "\n#\n# JRE version: x\n" +
         (frame.empty() ? "" : "# Problematic frame:\n# " + frame + "\n");
}

TEST_F(SignatureTest, AFailedCheckIsTheCheck) {
  auto finding = NewFinding("crash", "failed-check");
  SetField(finding->fault.failed_check, "(frame.cpp:123) assert(x()) failed");
  SetChain(*finding, {kVm + 3, kVmTwo + 2});
  const Signature signature = SignatureOf(*finding, symbols_);
  EXPECT_EQ(signature.key, "failed-check (frame.cpp:123) assert(x()) failed" + suffix_);
  EXPECT_EQ(signature.title,
            "failed-check (frame.cpp:123) assert(x()) failed in walkhammer::SignatureVm");
  EXPECT_EQ(signature.expect, "failed-check (frame.cpp:123) assert(x()) failed");
  EXPECT_EQ(signature.oracle, "crash");
  // A check is the same bug wherever it is inlined; another check is another bug.
  EXPECT_EQ(KeyAt(*finding, {kVmTwo + 2}), signature.key);
  SetField(finding->fault.failed_check, "(frame.cpp:124) assert(x()) failed");
  EXPECT_NE(KeyOf(*finding), signature.key);
}

TEST(SignatureOfDeath, ReadsTheHead) {
  Signature signature =
      SignatureOfDeath({SIGABRT, HsErr("Internal Error (frame.cpp:123), pid=1, tid=2\n"
                                       "#  guarantee(x) failed: bad 0x7f01",
                                       "")});
  EXPECT_EQ(signature.key, "death Internal Error (frame.cpp:123) guarantee(x) failed: bad 0x?");
  EXPECT_EQ(signature.title, "JVM death: guarantee(x) failed: bad 0x?");
  EXPECT_EQ(signature.oracle, "survival");
  signature = SignatureOfDeath(
      {SIGABRT, HsErr("SIGSEGV (0xb) at pc=0x1, pid=1, tid=2",
                      "V  [libjvm.so+0x99]  frame::sender(RegisterMap*) const+0x1f")});
  EXPECT_EQ(signature.key, "death SIGSEGV libjvm.so frame::sender(RegisterMap*) const+0x1f");
  EXPECT_EQ(signature.title, "JVM death: SIGSEGV in frame::sender");
  EXPECT_EQ(signature.expect, "death SIGSEGV frame::sender(RegisterMap*) const+0x1f");
}

TEST(SignatureOfDeath, WithoutALog) {
  EXPECT_EQ(SignatureOfDeath({SIGABRT, ""}).key, "death by signal 6");
  EXPECT_EQ(SignatureOfDeath({SIGKILL, "no head"}).key, "death by signal 9");
  EXPECT_EQ(SignatureOfDeath({3 << 8, ""}).key, "death by exit status 3");
}

constexpr char kSender[] = "crash frame::sender(RegisterMap*) const+0x1f";
constexpr char kDeath[] = "death Internal Error (frame.cpp:123) guarantee(x) failed: m";
constexpr char kCheck[] = "failed-check (frame.cpp:123) assert(x()) failed";

TEST(MatchesExpect, ExactFunctionOrNot) {
  const struct {
    const char *expect, *seen;
    Match match;
  } cases[] = {
      {kSender, kSender, Match::kExact},
      {" crash frame::sender(RegisterMap*) const+0x1f\n", kSender, Match::kExact},
      {"crash frame::sender(RegisterMap*) const+0x2f", kSender, Match::kFunction},
      {"crash frame::sender(RegisterMap*, bool) const+0x1f", kSender, Match::kFunction},
      {"crash frame::sender+0x1f", kSender, Match::kFunction},
      {"crash frame::sender", kSender, Match::kFunction},
      {"crash frame::sender_for", kSender, Match::kNo},
      {"hang frame::sender(RegisterMap*) const", kSender, Match::kNo},
      {"death SIGSEGV frame::sender", kSender, Match::kNo},
      {"", kSender, Match::kNo},
      {"crash", kSender, Match::kNo},
      // Without symbols only exactly.
      {"crash libjvm.so+0x12", "crash libjvm.so+0x12", Match::kExact},
      {"crash libjvm.so+0x12", "crash libjvm.so+0x13", Match::kNo},
      // Pcs outside of modules.
      {"crash unmapped pc from f(int)+0x1", "crash unmapped pc from f(int)+0x2", Match::kFunction},
      {"crash unmapped pc from f(int)+0x1", "crash unmapped pc from g(int)+0x1", Match::kNo},
      {"crash unmapped pc", "crash memcpy from g(int)+0x1", Match::kNo},
      {"crash memcpy+0x3 from g(int)+0x1", "crash memcpy+0x2 from g(int)+0x2", Match::kFunction},
      {"crash stub \"a\"+0x3", "crash stub \"a\"+0x4", Match::kFunction},
      {"crash stub \"a\"+0x3", "crash stub \"b\"+0x3", Match::kNo},
      {"crash stub \"a\"+0x3", "crash codelet \"a\"+0x3", Match::kNo},
      // Of other oracles.
      {"truth/wrong-frames", "truth/wrong-frames", Match::kExact},
      {"truth/wrong-frames", "truth/no-frames", Match::kNo},
      {"signal-safety/unsafe-call in f(int)", "signal-safety/unsafe-call in f(long)",
       Match::kFunction},
      {"signal-safety/unsafe-call in f(int)", "signal-safety/unsafe-call in g(int)", Match::kNo},
      {"signal-safety/unsafe-call", "signal-safety/unsafe-call in g(int)", Match::kFunction},
      // Deaths of a JVM.
      {kDeath, kDeath, Match::kExact},
      {"death Internal Error (frame.cpp:9) guarantee(x) failed: m", kDeath, Match::kFunction},
      {"death Internal Error (frame.cpp:123) guarantee(y) failed: m", kDeath, Match::kNo},
      {"death Internal Error (forte.cpp:123) guarantee(x) failed: m", kDeath, Match::kNo},
      {"death SIGSEGV f(X*)+0x1", "death SIGSEGV f(Y*)+0x2", Match::kFunction},
      {"death SIGSEGV f(X*)+0x1", "death SIGBUS f(X*)+0x1", Match::kNo},
      {"death by signal 6", "death by signal 9", Match::kNo},
      // Failed checks of the JVM.
      {kCheck, kCheck, Match::kExact},
      {"failed-check (frame.cpp:9) assert(x()) failed", kCheck, Match::kFunction},
      {"failed-check (frame.cpp:123) assert(y()) failed", kCheck, Match::kNo},
      {"failed-check (forte.cpp:123) assert(x()) failed", kCheck, Match::kNo},
      {"crash f(int)+0x3", kCheck, Match::kNo},
      {"death Internal Error (frame.cpp:123) assert(x()) failed", kCheck, Match::kNo},
  };
  for (const auto& [expect, seen, match] : cases) {
    Signature signature;
    signature.expect = seen;
    EXPECT_EQ(MatchesExpect(expect, signature), match) << expect << "; " << seen;
  }
}

TEST(BucketName, IsReadableAndTellsKeysApart) {
  Signature signature;
  signature.title = "crash in walkhammer::(anonymous namespace)::f";
  signature.key = "one";
  const std::string one = BucketName(signature);
  EXPECT_TRUE(one.starts_with("crash-in-walkhammer-anonymous-namespace-f-")) << one;
  EXPECT_EQ(one.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-"),
            std::string::npos);
  signature.key = "two";
  EXPECT_NE(BucketName(signature), one);
  signature.title = "../../" + std::string(500, '/');
  EXPECT_TRUE(BucketName(signature).starts_with("finding-"));
  signature.title = std::string(500, 'x');
  EXPECT_LT(BucketName(signature).size(), 80u);
}

}  // namespace
}  // namespace walkhammer
