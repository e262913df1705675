// SPDX-License-Identifier: Apache-2.0
// Symbol: a name for an address that survives ASLR, other JIT addresses and another JDK build.
// The table interns them; a request holds ids. It is a plain struct without pointers, so that
// the child fills it in a shared mapping and the parent reads it there.
// Signal-safe: reading yes, Intern no.
#ifndef WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace walkhammer {

enum class SymbolKind : uint8_t {
  kLiteral,       // the addend alone
  kPristine,      // the scene's own value of that register; 0 in an edit
  kStack,         // the scene's last_Java_sp; the addend walks up towards older frames
  kSlot,          // the *content* of the pristine stack slot at the addend
  kStackBase,     // highest address of the scene thread's stack (exclusive)
  kStackLimit,    // lowest address of the scene thread's stack: the guard pages start here
  kThread,        // the scene's JavaThread
  kHeap,          // lowest address of the Java heap's mapping
  kHeapEnd,       // its end (exclusive)
  kMetaspace,     // start of the mapping that holds a scene's Method
  kCodeCache,     // CodeCache::_low_bound
  kCodeCacheEnd,  // CodeCache::_high_bound
  kUnmapped,      // an address range that nothing is mapped at
  kNoAccess,      // a mapped page that may be neither read nor written
  kZeroPage,      // a readable page full of zeros
  kNmethod,       // "pkg.Class.method(Sig)Ret": first instruction of its compiled code
  kStub,          // a VM stub by the name that JVMTI reports, "#n" where names repeat
  kCodelet,       // an interpreter codelet by its description
  kMethod,        // the Method* of "pkg.Class.method(Sig)Ret"
  kLibrary,       // lowest mapped address of a shared library, by file name
  kLibraryEnd,    // its end (exclusive)
  kSceneStack,    // kStack of another scene's thread
  kBytecodes,     // the first byte code of "pkg.Class.method(Sig)Ret"; the addend is a bci
  kCount
};

inline constexpr int kSymbolKinds = static_cast<int>(SymbolKind::kCount);

// True for kinds that take a quoted name in the text form.
constexpr bool IsNamed(SymbolKind kind) {
  return kind >= SymbolKind::kNmethod && kind < SymbolKind::kCount;
}

// The word that stands for `kind` in the text form, e.g. "nmethod". Static storage.
std::string_view KindWord(SymbolKind kind);
std::optional<SymbolKind> KindFromWord(std::string_view word);

struct Symbol {
  static constexpr size_t kMaxName = 158;  // longer names are cut
  SymbolKind kind;
  char name[kMaxName + 1];  // NUL-terminated; empty for unnamed kinds
};

// Ids 0 .. kSymbolKinds-1 are the kinds themselves (the unnamed symbol of each), so an unnamed
// kind's id needs no look-up and an all-zero Value is the literal 0. At most one writer.
class SymbolTable {
 public:
  static constexpr uint32_t kCapacity = 12288;

  // Must run once before any other call: the table may lie in zeroed shared memory.
  void Init();

  // Id of (kind, name), added when new. When the table is full, or the name is empty for a
  // named kind, returns the id of kUnmapped.
  uint32_t Intern(SymbolKind kind, std::string_view name);

  // Id of (kind, name) if present.
  std::optional<uint32_t> Find(SymbolKind kind, std::string_view name) const;

  // Out-of-range ids read as the literal symbol.
  const Symbol& at(uint32_t id) const { return symbols_[id < size() ? id : 0]; }
  // Never above the capacity, even when a crashing child wrote over the table.
  uint32_t size() const { return std::min(size_.load(std::memory_order_acquire), kCapacity); }

  static constexpr uint32_t IdOf(SymbolKind unnamed) { return static_cast<uint32_t>(unnamed); }

 private:
  static constexpr uint32_t kSlots = 32768;  // power of two, over twice the capacity

  std::atomic<uint32_t> size_;
  uint32_t slots_[kSlots];  // id + 1, 0 = free
  Symbol symbols_[kCapacity];
};

// A name as the text form and the table hold it: printable ASCII without '"' and '\\'
// (others become '?'), cut to Symbol::kMaxName.
std::string CleanName(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_
