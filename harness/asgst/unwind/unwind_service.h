// SPDX-License-Identifier: Apache-2.0
// The unwind tables of this process. A service thread makes them from the loaded modules, and makes
// them again when a walk has reached code of a module that was not loaded then. Signal-safe:
// LiveTables and AskForTables yes; the rest no.
#ifndef WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_
#define WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_

#include <string>
#include <vector>

#include "harness/asgst/walk/unwind_table.h"

namespace walkhammer::asgst {

// Starts the service thread, once. Until the thread has made tables, walks use frame pointers.
void StartUnwindService();
const UnwindTables& LiveTables();
// Wakes the service thread if a walk has reached code of no known module.
void AskForTables();
// Waits until there are tables of all modules that are loaded at the call; false if that takes more
// than `milliseconds`.
bool WaitForTables(int milliseconds);

// Hash of a table of .eh_frame_hdr; never 0.
uint64_t HashOfTable(const char* table, size_t bytes);
// The rows of the ELF file at `path` or, if `path` is empty, of the kernel's library, which is in
// memory at `image`. Empty if there is no .eh_frame that libdw can read, or if the table's hash is
// not `hash`, the hash of the loaded table (0: any). With a `path`, nothing is read of the loaded
// file, which may be unloaded by then.
std::vector<UnwindRow> ReadUnwindRows(const std::string& path, uint64_t image, uint64_t hash);

}  // namespace walkhammer::asgst

#endif  // WALKHAMMER_HARNESS_ASGST_UNWIND_UNWIND_SERVICE_H_
