// SPDX-License-Identifier: Apache-2.0
// PlainText: what a file of text holds, in the form that the readers of this folder take. Used
// wherever a crash log is read from a file. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_PLAIN_TEXT_H_
#define WALKHAMMER_HARNESS_HS_ERR_PLAIN_TEXT_H_

#include <string>

#include "harness/base/result.h"

namespace walkhammer {

// Returns `bytes`, what the file `name` holds, as they are but for gzip, which is unpacked, UTF-16,
// which becomes UTF-8, NULs, which go, a CR alone, which becomes an LF, and the
// parts of a line that a container's runtime has cut (CRI), which are joined. kBadInput: they are
// compressed otherwise, or not a text.
Result<std::string> PlainText(std::string bytes, const std::string& name);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_PLAIN_TEXT_H_
