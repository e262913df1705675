// SPDX-License-Identifier: Apache-2.0
// The unwind tables of this process: made by a thread of their own from what is loaded, anew when a
// walk has met code that was not. Signal-safe: LiveTables and AskForTables yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_
#define WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_

#include <string>
#include <vector>

#include "harness/asgst/walk/unwind_table.h"

namespace walkhammer::asgst {

// Starts the thread, once. Until it has made them, frame pointers must do.
void StartUnwindService();
const UnwindTables& LiveTables();
// Wakes the thread if a walk has met code of no known module.
void AskForTables();
// Waits until tables were made at least once; false if they were not within `milliseconds`.
bool WaitForTables(int milliseconds);

// Tells a table of .eh_frame_hdr from others; never 0.
uint64_t HashOfTable(const char* table, size_t bytes);
// The rows of an ELF file, or of the kernel's library, which lies at `image`, if `path` is empty.
// Empty if it has no .eh_frame that libdw can read, or if its table's hash is not `hash`, that of
// what is loaded (0: any). It reads nothing of what is loaded, which may be gone by then.
std::vector<UnwindRow> ReadUnwindRows(const std::string& path, uint64_t image, uint64_t hash);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_
