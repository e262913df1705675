// SPDX-License-Identifier: Apache-2.0
// How Capstone is opened. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_ELF_CAPSTONE_H_
#define WALKHAMMER_HARNESS_ELF_CAPSTONE_H_

#include <capstone/capstone.h>

#include "harness/base/result.h"

namespace walkhammer {

// Returns a handle that gives the details of each instruction. The caller closes it. Fails with
// kUnable if this build of Capstone lacks the architecture.
inline Result<csh> OpenCapstone(cs_arch arch, cs_mode mode) {
  csh handle = 0;
  if (cs_open(arch, mode, &handle) != CS_ERR_OK)
    return Unable("this Capstone was built without the architecture of the code");
  cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
  return handle;
}

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_ELF_CAPSTONE_H_
