// SPDX-License-Identifier: Apache-2.0
// Symbol: a name for an address that survives ASLR, other JIT addresses and another JDK build.
// SymbolTable interns symbols; a request holds their ids. The table is a plain struct without
// pointers: the child fills the table in a shared mapping, where the parent reads it.
// Signal-safe: reading yes, Intern no.
#ifndef WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_
#define WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace walkhammer {

enum class SymbolKind : uint8_t {
  kLiteral,       // 0: the value is the addend alone
  kPristine,      // the scene's own value of the same register or anchor field; 0 in an edit
  kStack,         // the scene's last_Java_sp; positive addends lead to older frames
  kSlot,          // the *content* of the pristine stack slot at the addend
  kStackBase,     // highest address of the scene thread's stack (exclusive)
  kStackLimit,    // lowest address of the scene thread's stack: the guard pages start here
  kThread,        // the scene's JavaThread
  kHeap,          // lowest address of the Java heap's mapping
  kHeapEnd,       // end of the Java heap's mapping (exclusive)
  kMetaspace,     // lowest address of the mapping that holds a scene's Method
  kCodeCache,     // CodeCache::_low_bound
  kCodeCacheEnd,  // CodeCache::_high_bound
  kUnmapped,      // an address in an unmapped range
  kNoAccess,      // a mapped page that may be neither read nor written
  kZeroPage,      // a readable page full of zeros
  kNmethod,       // first instruction of the compiled code of "pkg.Class.method(Sig)Ret"
  kStub,          // a VM stub by the name that JVMTI reports, "#n" where names repeat
  kCodelet,       // an interpreter codelet by its description
  kMethod,        // the Method* of "pkg.Class.method(Sig)Ret"
  kLibrary,       // lowest mapped address of a shared library, by file name
  kLibraryEnd,    // end of a shared library (exclusive), by file name
  kSceneStack,    // kStack of the scene of that name
  kBytecodes,     // first bytecode of "pkg.Class.method(Sig)Ret"; the addend is a bci
  kCount
};

inline constexpr int kSymbolKinds = static_cast<int>(SymbolKind::kCount);

// True for kinds that take a quoted name in the text form.
constexpr bool IsNamed(SymbolKind kind) {
  return kind >= SymbolKind::kNmethod && kind < SymbolKind::kCount;
}

// The word for `kind` in the text form, e.g. "nmethod". Static storage.
std::string_view KindWord(SymbolKind kind);
std::optional<SymbolKind> KindFromWord(std::string_view word);

struct Symbol {
  static constexpr size_t kMaxName = 158;  // bytes; longer names are truncated
  SymbolKind kind;
  char name[kMaxName + 1];  // NUL-terminated; empty for unnamed kinds
};

// Ids 0 .. kSymbolKinds-1 are the unnamed symbols of the kinds: the id of an unnamed kind needs no
// look-up, and an all-zero Value is the literal 0. At most one writer at a time.
class SymbolTable {
 public:
  static constexpr uint32_t kCapacity = 12288;

  // Empties the table. Must run before any other call, as zeroed memory is not an empty table.
  void Init();

  // Returns the id of (kind, name), which is added if missing. Returns the id of kUnmapped when the
  // table is full, or when `name` is empty for a named kind.
  uint32_t Intern(SymbolKind kind, std::string_view name);

  // The id of (kind, name) if the table holds it.
  std::optional<uint32_t> Find(SymbolKind kind, std::string_view name) const;

  // The symbol with this id; the literal symbol if `id` is out of range.
  const Symbol& at(uint32_t id) const { return symbols_[id < size() ? id : 0]; }
  // Number of symbols, at most kCapacity even if a crashing child wrote over the table.
  uint32_t size() const { return std::min(size_.load(std::memory_order_acquire), kCapacity); }

  static constexpr uint32_t IdOf(SymbolKind unnamed) { return static_cast<uint32_t>(unnamed); }

 private:
  static constexpr uint32_t kSlots = 32768;  // power of two, over twice the capacity

  std::atomic<uint32_t> size_;
  uint32_t slots_[kSlots];  // id + 1, 0 = free
  Symbol symbols_[kCapacity];
};

// An empty table on the heap, as it takes about 2 MB.
std::unique_ptr<SymbolTable> NewSymbolTable();

// `name` as the text form and the table hold it: truncated to Symbol::kMaxName bytes, with '?' for
// '"', '\\' and each byte that is not printable ASCII.
std::string CleanName(std::string_view name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_REQUEST_SYMBOL_TABLE_H_
