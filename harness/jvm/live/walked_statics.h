// SPDX-License-Identifier: Apache-2.0
// Function-local static variables of libjvm that AsyncGetCallTrace initialises. If a crash or hang
// ends a walk in the middle of that, the variable stays locked: each later walk that comes there
// would wait endlessly. Signal-safe: GiveUp; the rest no.
#ifndef WALKHAMMER_HARNESS_JVM_LIVE_WALKED_STATICS_H_
#define WALKHAMMER_HARNESS_JVM_LIVE_WALKED_STATICS_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace walkhammer {

class WalkedStatics {
 public:
  // The guard variables of the Itanium C++ ABI, 8 bytes each: the first byte tells that the
  // variable is initialised; the first four bytes are 0 if nobody has begun to.
  using Guard = int64_t;

  WalkedStatics() = default;
  explicit WalkedStatics(std::vector<Guard*> guards) : guards_(std::move(guards)) {}
  // Those of `libjvm`, a dlopen handle; its file is `path`. They are found by their symbols: none
  // if libjvm is stripped.
  static WalkedStatics Find(void* libjvm, const std::string& path);

  // Ends initialisations that are under way, as an exception in the initialiser does: the next
  // thread that needs the variable begins anew. Only while no thread initialises one of them.
  void GiveUp() const;

  const std::vector<Guard*>& guards() const { return guards_; }

 private:
  std::vector<Guard*> guards_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_LIVE_WALKED_STATICS_H_
