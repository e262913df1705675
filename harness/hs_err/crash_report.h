// SPDX-License-Identifier: Apache-2.0
// CrashReport: what the text of a crash tells: an hs_err log of HotSpot (JDK 6 to 28), a back-trace
// of gdb or lldb, or only a stack, also with an issue or an e-mail around it. Everything is as the
// text has it, nothing is judged, and each item names the line that it was read from. Used by the
// signature of a child's death, by import and by redact. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_CRASH_REPORT_H_
#define WALKHAMMER_HARNESS_HS_ERR_CRASH_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

// A value and the line of the text, from 1, that has it. Line 0: the text does not have it.
template <typename T>
struct Reported {
  T value{};
  int line = 0;

  bool known() const { return line > 0; }
};

enum class CrashText : uint8_t {
  kNone,      // nothing of a crash was recognised
  kHsErr,     // an hs_err log, or parts of one that are more than a stack
  kGdb,       // gdb: "#0  0x00007f.. in f () from /lib/libjvm.so"; coredumpctl, eu-stack, ASan, too
  kLldb,      // lldb: "frame #0: 0x0000.. libjvm.dylib`f + 12"
  kStack,     // only frames, in the notation of hs_err logs
  kMinidump,  // minidump-stackwalk: "0  libjvm.so!f + 0x308"
  kApple,     // Apple's crash reporter: "0   libjvm.dylib  0x.. f + 12"
  kJavacore,  // OpenJ9: "4XENATIVESTACK  f+0x1c (0x.. [libj9jit29.so+0x1])"
  kThreadDump  // of a process that lives: jstack, jhsdb; its stacks are not read
};

// Why the VM died, by the head of the log.
enum class CrashError : uint8_t {
  kUnknown,
  kSignal,       // "SIGSEGV (0xb) at pc=.."
  kInternal,     // "Internal Error (frame.cpp:123), pid=.., tid=..": an assert, guarantee, fatal ..
  kOutOfMemory,  // "There is insufficient memory for the Java Runtime Environment to continue"
  kJavaHeapFull,  // "Internal Error .. fatal error: OutOfMemory encountered: Java heap space"
};

struct CrashSignal {
  Reported<std::string> name;  // "SIGSEGV"
  Reported<int> number;        // 11, as the platform of the crash counts
  Reported<std::string> code;  // "SEGV_MAPERR"; of JDK 8, too, which prints a name and number alike
  Reported<int> code_number;   // 1; 128 is SI_KERNEL, 0 SI_USER
  Reported<uint64_t> address;  // si_addr. The kernel does not know it where the code is SI_KERNEL
  bool address_computed = false;  // address is not si_addr: instruction and registers gave it
  Reported<int64_t> sender_pid;   // of SI_USER and SI_TKILL, where it is known
};

// What HotSpot says when it stops by itself.
struct CrashInternalError {
  Reported<std::string> file;  // "frame.cpp", without a path
  Reported<int> file_line;     // 123
  Reported<std::string>
      kind;  // "guarantee", "assert", "fatal error", "Error", "ShouldNotReachHere()"
  Reported<std::string> condition;  // "is_interpreted_frame()" of "guarantee(..) failed: .."
  Reported<std::string> message;    // what follows "failed: " or "fatal error: "; may be empty
  std::string text;                 // the whole line: "guarantee(x) failed: y"
};

enum class CrashArch : uint8_t {
  kUnknown,
  kX86_64,
  kAarch64,
  kX86,
  kArm,
  kPpc64,
  kS390x,
  kRiscv64
};
enum class CrashVm : uint8_t { kUnknown, kHotSpot, kOpenJ9 };
enum class CrashOs : uint8_t { kUnknown, kLinux, kMacos, kWindows, kOther };

struct CrashVersion {
  Reported<std::string> jre;  // the line "JRE version: " as it is, without that word
  Reported<std::string> vm;   // the line "Java VM: " as it is, without that word
  Reported<std::string> jdk;  // of the JRE line: "17.0.15+6-Debian-1deb12u1", "1.8.0_492-b09"
  Reported<std::string> vm_version;   // of the VM line: "17.0.15+6-Debian-1deb12u1", "25.492-b09"
  Reported<int> feature;              // 8, 17, 25
  Reported<std::string> build;        // the line "vm_info: " or "JDK .. built on .."; may be empty
  Reported<std::string> debug_level;  // "release", "fastdebug", "slowdebug"
};

// A thread: the current one, or one of the list "Java Threads" or "Other Threads".
struct CrashThread {
  int line = 0;              // 0: not known
  uint64_t address = 0;      // of the Thread object
  std::string kind;          // "JavaThread", "VMThread", "CompilerThread", "ConcurrentGCThread"
  std::string name;          // "main", "C2 CompilerThread0"; without its quotes
  std::string state;         // "_thread_in_Java", "_thread_in_native_trans"; may be empty
  int64_t id = 0;            // as the kernel counts; 0: not known
  uint64_t stack_begin = 0;  // lowest address of the stack; 0: not known
  uint64_t stack_end = 0;    // one past the highest
  bool daemon = false;
  bool is_current = false;                         // marked "=>" in a list
  bool is_java() const { return !state.empty(); }  // only a JavaThread has a state
};

enum class CrashFrameKind : uint8_t {
  kUnknown,
  kNative,       // "C": C or C++ of a library that is not libjvm, or an address that no library has
  kVm,           // "V": libjvm
  kCompiled,     // "J": an nmethod
  kAot,          // "A": ahead-of-time compiled Java code (JDK 9 to 16)
  kInterpreted,  // "j"
  kStub,         // "v": a stub or an interpreter codelet
  kSignalHandler  // where a signal came in: "<signal handler called>", __restore_rt, _sigtramp
};

struct CrashFrame {
  CrashFrameKind kind = CrashFrameKind::kUnknown;
  int line = 0;
  std::string text;  // the frame as the text has it, on one line

  // Native code and libjvm.
  std::string module;                     // "libjvm.so", without a path; may be empty
  std::string library;                    // its path; only in a CrashedChain. Empty: unknown
  std::optional<uint64_t> module_offset;  // of the pc, from the load address
  std::string source;                     // "frame.cpp:123"; JDK 20 and later, and debuggers
  bool is_inlined = false;                // the debugger or JDK 28 says so

  // The function with its parameters; a Java method as "java.lang.String.hashCode()I"; a stub's
  // name, "StubRoutines::call_stub", without "~". Empty: not known.
  std::string symbol;
  std::optional<uint64_t> symbol_offset;  // of the pc, from the symbol or from the nmethod's code

  // Java methods.
  std::string java_module;           // "java.base@17.0.15"
  std::optional<int> bci;            // of an interpreted frame
  std::optional<int> compile_id;     // 44 of "J 44 c2 .."
  std::string compiler;              // "c1", "c2", "jvmci"; empty: not known
  int tier = 0;                      // 1 to 4; 0: not known. "c2" alone is tier 4
  bool is_osr = false;               // "%"
  bool is_native_wrapper = false;    // "J 12  .. (0 bytes)", or "n" in the event log
  std::optional<int> bytecode_size;  // 55 of "(55 bytes)"

  std::optional<uint64_t> pc;
  std::optional<uint64_t> code_begin;  // of the nmethod; pc - code_begin is symbol_offset
  std::optional<uint64_t> sp;          // "sp=0x..", of the top frame as a rule

  bool is_java() const {
    return kind == CrashFrameKind::kCompiled || kind == CrashFrameKind::kInterpreted ||
           kind == CrashFrameKind::kAot;
  }
};

struct CrashStack {
  std::vector<CrashFrame> frames;  // innermost first, whatever order the text has
  // Indexes in `frames` of kSignalHandler: what is before the first one runs in a signal handler,
  // and what follows is the context that the signal interrupted.
  std::vector<size_t> signal_frames;
  // The text says "...<more frames>..." or that printing it failed, begins or ends within it, or
  // leaves out frames.
  bool truncated = false;
  // Index in `frames` of the first frame before which the text leaves frames out: "...", or numbers
  // of a debugger that do not follow each other.
  std::optional<size_t> gap;
  bool may_begin_cut = false;  // nothing says that the first frame is the newest one
};

struct CrashRegister {
  std::string name;  // the vendor's, in lower case: "rax", "rip", "eflags", "x0", "x29", "sp", "pc"
  uint64_t value = 0;
  int line = 0;
};

enum class PointeeKind : uint8_t {
  kUnknown,     // "is an unknown value", or nothing that is understood
  kNull,        // "0x0 is null"
  kUnreadable,  // unallocated, or memory that no one knows: "points to unknown readable memory" is
                // not
  kMemory,      // "points to unknown readable memory", "points into unknown readable memory"
  kThread,      // "is a thread"
  kStack,       // "is pointing into the stack for thread"
  kHeapOop,     // "is an oop: java.lang.String", "is pointing into object"
  kMethod,      // a Method: "{method} {0x..} 'run' '()V' in 'a/B'"
  kClass,       // a Klass or InstanceKlass
  kMetadata,    // "is pointing into metadata"
  kNmethod,     // "is at entry_point+12 in (nmethod*)0x.."
  kStub,        // "is at begin+0 in a stub", "StubRoutines::..", an adapter blob
  kCodelet,     // "is at code_begin+54 in an Interpreter codelet"
  kLibrary,     // "<offset 0x..> in /lib/libjvm.so at 0x..", "f+0x12 in .."
  kJniHandle    // "is a global jni handle"
};

// What a register or a stack slot points to.
struct CrashPointee {
  std::string register_name;  // "rax"; empty: it is a stack slot
  int slot = -1;              // words above sp; -1: it is a register
  uint64_t value = 0;
  PointeeKind kind = PointeeKind::kUnknown;
  std::string name;    // method "a.B.run()V", class, stub, codelet, library path; may be empty
  std::string symbol;  // of a library; may be empty
  std::optional<uint64_t> base;    // nmethod, thread, blob, library's load address
  std::optional<uint64_t> offset;  // of the value: from the symbol, else from the base
  std::string text;                // all of its lines, joined by line ends
  int line = 0;
};

struct CrashWord {
  uint64_t address = 0;  // a multiple of the size of a word
  uint64_t value = 0;
  int line = 0;
};

struct CrashCode {
  uint64_t begin = 0;          // address of the first byte
  std::vector<uint8_t> bytes;  // without gaps
  int line = 0;
};

struct CrashModule {
  uint64_t begin = 0;
  uint64_t end = 0;    // one past; 0: not known (macOS)
  std::string access;  // "r-xp"; empty: not known
  uint64_t file_offset = 0;
  std::string path;  // or "[stack]", "[vdso]"; empty: anonymous
  int line = 0;
};

struct CrashCodeHeap {
  std::string name;  // "non-profiled nmethods"; "CodeCache" if it is the only one
  uint64_t begin = 0;
  uint64_t committed_end = 0;
  uint64_t end = 0;
  int line = 0;
};

struct CrashFlag {
  std::string name;    // "UseG1GC"
  std::string value;   // "true"
  std::string origin;  // "command line", "ergonomic"; empty: not known
  int line = 0;
};

struct CrashEvent {
  std::string log;      // "Compilation events", "Deoptimization events", as the text has it
  double seconds = 0;   // since the VM's start
  uint64_t thread = 0;  // address of the Thread; 0: not known
  std::string text;     // all lines of it, joined by line ends
  int line = 0;
};

// "[error occurred during error reporting (printing native stack), id 0xb, SIGSEGV ..]"
struct CrashReportingError {
  std::string step;   // "printing native stack"
  std::string error;  // "id 0xb, SIGSEGV (0xb) at pc=0x.."
  int line = 0;
};

struct CrashUnread {
  std::string what;  // "registers"
  std::string why;   // "the text ends before them"
  int line = 0;      // where they should be, or where the reading ended; 0: no place
};

struct CrashReport {
  CrashText text_kind = CrashText::kNone;
  int lines = 0;  // of the text

  CrashError error = CrashError::kUnknown;
  CrashSignal signal;
  CrashInternalError internal;
  Reported<int64_t> pid;
  Reported<int64_t>
      tid;  // as the kernel counts. JDK 8 and before: taken from the thread, if it is known
  Reported<uint64_t> pc;
  Reported<uint64_t>
      stack_pointer;  // of the registers, "Stack: [..], sp=", or "Top of Stack: (sp="

  CrashArch arch = CrashArch::kUnknown;
  CrashOs os = CrashOs::kUnknown;
  Reported<std::string> platform;  // "linux-amd64"
  Reported<std::string> os_text;   // the line "OS:"
  CrashVersion version;
  Reported<std::string> gc;  // "g1", "serial", "parallel", "cms", "z", "shenandoah", "epsilon"
  Reported<std::string> command_line;  // "Command Line: .."; up to JDK 8 the line "jvm_args: .."
  Reported<std::string> java_command;  // "java_command: .."; main class and its arguments
  Reported<std::string> time;          // "Time: .."
  Reported<double> elapsed_seconds;    // since the VM's start

  CrashThread thread;                  // the current one
  Reported<std::string> vm_state;      // "not at safepoint (normal execution)"
  Reported<std::string> vm_operation;  // "VM_Operation (0x..): .., mode: safepoint, .."
  Reported<std::string> compile_task;  // "C2: 1234 567 4 a.B::c (12 bytes)"

  std::optional<CrashFrame> problematic_frame;
  CrashStack native_stack;  // "Native frames", which holds the Java frames among them, too
  CrashStack java_stack;    // "Java frames": those from the last Java frame on, by the VM's walker

  std::vector<CrashRegister> registers;
  std::vector<CrashPointee> register_pointees;
  std::vector<CrashPointee> stack_pointees;
  std::vector<CrashWord> stack_words;  // by address, upwards from sp
  std::optional<CrashCode> instructions;

  std::vector<CrashThread> threads;
  std::vector<CrashModule> modules;
  std::vector<CrashCodeHeap> code_heaps;
  std::vector<CrashFlag> flags;
  std::vector<CrashEvent> events;
  std::vector<CrashReportingError> reporting_errors;
  std::vector<CrashUnread> unread;
  CrashVm vm = CrashVm::kUnknown;

  // Value of the register by the vendor's name in lower case; none if it is not known.
  std::optional<uint64_t> Register(std::string_view name) const;
  // The stack pointer, and the frame pointer by the architecture.
  std::optional<uint64_t> sp() const;
  std::optional<uint64_t> fp() const;
};

// What of a text is read at most. More is left out, and `unread` says so.
inline constexpr size_t kMostCrashText = size_t{32}
                                         << 20;    // bytes, from the first trace of a crash
inline constexpr size_t kMostCrashItems = 20'000;  // of each list

// Parses any text. Never fails: what is not understood stays unknown, and `unread` names what was
// expected and not found. The first of several crashes is read. If the text is JSON, lines are
// those of the text that its strings hold. Time is linear in the text's size; but for JSON the text
// itself is not copied.
CrashReport ParseCrashReport(std::string_view text);

inline constexpr size_t kMostCrashReports = 16;

// Reads all crashes of a text, the first 16 of them, in its order; at least one report.
std::vector<CrashReport> ParseCrashReports(std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_CRASH_REPORT_H_
