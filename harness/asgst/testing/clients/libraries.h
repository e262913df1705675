// SPDX-License-Identifier: Apache-2.0
// Where a signal found its thread: in code of libasgst, or in what libasgst called.
// Signal-safe: PcOf, PlaceOf yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_LIBRARIES_H_
#define WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_LIBRARIES_H_

#include <link.h>
#include <profile2.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

inline void* PcOf(const void* ucontext) {
  const mcontext_t& registers = static_cast<const ucontext_t*>(ucontext)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<void*>(registers.gregs[REG_RIP]);
#else
  return reinterpret_cast<void*>(registers.pc);
#endif
}

class Libraries {
 public:
  enum Place {
    kElsewhere,
    kInAsgst,       // in libasgst, or in a library that it called
    kCalledByAsgst  // in libjvm, called by libasgst: a hook calls the function that it hooks
  };

  // Call once, before PlaceOf.
  void Find() { dl_iterate_phdr(Note, this); }

  // Looks at the frames of C code that are newer than the newest Java frame.
  Place PlaceOf(void* ucontext) const {
    Looked looked{this};
    ASGST_RunWithIterator(ucontext, ASGST_INCLUDE_NON_JAVA_FRAMES, Look, &looked);
    return looked.place;
  }

 private:
  struct Range {
    uintptr_t begin = UINTPTR_MAX, end = 0;
    bool Has(const void* pc) const {
      const auto at = reinterpret_cast<uintptr_t>(pc);
      return at >= begin && at < end;
    }
  };
  struct Looked {
    const Libraries* libraries;
    Place place = kElsewhere;
  };

  static void Look(ASGST_Iterator* iterator, void* argument) {
    auto* looked = static_cast<Looked*>(argument);
    bool in_jvm = false;
    for (ASGST_Frame frame; ASGST_NextFrame(iterator, &frame) == 1;) {
      if (frame.type != ASGST_FRAME_NON_JAVA) return;
      in_jvm |= looked->libraries->jvm_.Has(frame.pc);
      if (!looked->libraries->asgst_.Has(frame.pc)) continue;
      looked->place = in_jvm ? kCalledByAsgst : kInAsgst;
      return;
    }
  }

  static int Note(dl_phdr_info* info, size_t, void* self) {
    auto* libraries = static_cast<Libraries*>(self);
    Range* range = std::strstr(info->dlpi_name, "/libasgst.so") != nullptr ? &libraries->asgst_
                   : std::strstr(info->dlpi_name, "/libjvm.so") != nullptr ? &libraries->jvm_
                                                                           : nullptr;
    for (int i = 0; range != nullptr && i < info->dlpi_phnum; i++) {
      if (info->dlpi_phdr[i].p_type != PT_LOAD) continue;
      const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
      range->begin = std::min(range->begin, begin);
      range->end = std::max(range->end, begin + info->dlpi_phdr[i].p_memsz);
    }
    return 0;
  }

  Range asgst_, jvm_;
};

#endif  // WALKHAMMER_HARNESS_ASGST_TESTING_CLIENTS_LIBRARIES_H_
