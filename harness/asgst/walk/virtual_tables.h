// SPDX-License-Identifier: Apache-2.0
// VirtualTables: first words of the JVM's metadata of one kind: addresses of C++ virtual tables,
// that of libjvm and that of a CDS archive. Threads share it without locks. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_ASGST_WALK_VIRTUAL_TABLES_H_
#define WALKHAMMER_HARNESS_ASGST_WALK_VIRTUAL_TABLES_H_

#include <atomic>
#include <cstdint>

namespace walkhammer::asgst {

class VirtualTables {
 public:
  // Adds the first word of an object of this kind; not 0, which nothing has. More than kMost
  // different words are not kept.
  void Learn(uint64_t word) {
    for (auto& known : known_) {
      uint64_t free = 0;
      if (known.load() == word || known.compare_exchange_strong(free, word) || free == word) return;
    }
  }
  bool Has(uint64_t word) const {
    for (const auto& known : known_)
      if (known.load(std::memory_order_relaxed) == word) return word != 0;
    return false;
  }

 private:
  static constexpr int kMost = 16;  // there are five kinds of InstanceKlass
  std::atomic<uint64_t> known_[kMost]{};
};

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_WALK_VIRTUAL_TABLES_H_
