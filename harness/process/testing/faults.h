// SPDX-License-Identifier: Apache-2.0
// Functions of the C library that fail on demand. Link faults.cc into a test, or preload it as a
// library: it replaces these functions. Signal-safe: ArmFault and DisarmFault yes; the replaced
// functions no, because they call dlsym.
#ifndef WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_
#define WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_

namespace walkhammer {

enum class FaultKind : int {
  kNone,
  kDiskFull,     // ENOSPC from calls that write, sync, truncate, create or rename files
  kNoProcess,    // EAGAIN from fork and pthread_create
  kInterrupted,  // EINTR from calls that a signal may interrupt
};

// Begins to count the calls of a kind in this process. Makes call number `at`, from 1, fail, and
// after it each `every`-th call; every 0: no other. Child processes are not affected.
void ArmFault(FaultKind kind, int at, int every);
// Disarms the fault. Returns how many calls of its kind were counted, failed ones included.
int DisarmFault();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_
