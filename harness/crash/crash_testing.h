// SPDX-License-Identifier: Apache-2.0
// Texts of crashes for tests, in the form of hs_err logs.
#ifndef WALKHAMMER_HARNESS_CRASH_CRASH_TESTING_H_
#define WALKHAMMER_HARNESS_CRASH_CRASH_TESTING_H_

#include <string>
#include <vector>

namespace walkhammer {

// A log of JDK 17 whose native frames are `frames`, innermost first. `extra`: further sections.
inline std::string LogWith(const std::vector<std::string>& frames, const std::string& extra = "",
                           const std::string& version = "17.0.15+6") {
  std::string text =
      "#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n"
      "#  SIGSEGV (0xb) at pc=0x00007f35362c5e95, pid=16184, tid=16247\n#\n"
      "# JRE version: OpenJDK Runtime Environment (" +
      version + ") (build " + version +
      ")\n"
      "# Java VM: OpenJDK 64-Bit Server VM (" +
      version +
      ", mixed mode, sharing, tiered, g1 gc, "
      "linux-amd64)\n# Problematic frame:\n# " +
      (frames.empty() ? "" : frames.front()) +
      "\n#\n\n---------------  S U M M A R Y ------------\n\n"
      "---------------  T H R E A D  ---------------\n\n"
      "Current thread (0x00007f353c1ecf80):  JavaThread \"main\" [_thread_in_Java, id=16247, "
      "stack(0x00007f34c0c00000,0x00007f34c1c00000)]\n\n"
      "Stack: [0x00007f34c0c00000,0x00007f34c1c00000],  sp=0x00007f34c1bf8670,  free space=16353k\n"
      "Native frames: (J=compiled Java code, j=interpreted, Vv=VM code, C=native code)\n";
  for (const std::string& frame : frames) text += frame + "\n";
  return text +
         "\n\nsiginfo: si_signo: 11 (SIGSEGV), si_code: 1 (SEGV_MAPERR), si_addr: "
         "0x00007f0000001000\n\n" +
         extra;
}

inline const char* const kSender =
    "V  [libjvm.so+0x6c5e95]  frame::sender(RegisterMap*) const+0x325";
inline const char* const kAgct = "V  [libjvm.so+0x6c218f]  AsyncGetCallTrace+0x1ef";
inline const char* const kHandler = "C  [libprofiler.so+0x1234]  on_signal+0x58";
inline const char* const kJava =
    "J 13 c2 java.lang.String.hashCode()I java.base@17.0.15 (60 bytes) @ 0x00007f3526ac7ddf "
    "[0x00007f3526ac7d20+0x00000000000000bf]";
inline const char* const kThreadStart =
    "V  [libjvm.so+0xc2c5e3]  thread_native_entry(Thread*)+0xe3";
inline const char* const kInterpreted = "j  wh.App.main([Ljava/lang/String;)V+12";

// Such a log of a JVM that stopped at a failed check.
inline std::string LogOfFailedCheck() {
  std::string text = LogWith({"V  [libjvm.so+0x1]  VMError::report_and_die(int)+0x1", kAgct});
  const std::string signal = "#  SIGSEGV (0xb) at pc=0x00007f35362c5e95, pid=16184, tid=16247\n#\n";
  return text.replace(
      text.find(signal), signal.size(),
      "#  Internal Error (codeCache.cpp:645), pid=16184, tid=16247\n"
      "#  guarantee(is_result_safe || is_in_asgct()) failed: unsafe access to zombie method\n#\n");
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_CRASH_CRASH_TESTING_H_
