// SPDX-License-Identifier: Apache-2.0
// System calls that fail on demand. Link faults.cc into a test, or preload it as a library: it
// stands in front of the C library. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_
#define WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_

namespace walkhammer {

enum class FaultKind : int {
  kNone,
  kDiskFull,     // ENOSPC at what writes files, makes them or names them
  kNoProcess,    // EAGAIN at fork and at pthread_create
  kInterrupted,  // EINTR at calls that a signal may end
};

// From now on counts the calls of a kind in this process, and lets the one with number `at`, from
// 1, fail, and each `every`-th after it; 0: no other.
void ArmFault(FaultKind kind, int at, int every);
// Ends that. Returns the number of such calls that there were.
int DisarmFault();

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_PROCESS_TESTING_FAULTS_H_
