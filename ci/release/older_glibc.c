/* SPDX-License-Identifier: Apache-2.0
 * What g++ 12's static C++ library needs of a C library newer than 2.31, for releases.
 * Signal-safe: yes. */
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* glibc 2.32. 0 is always right: reference counts stay atomic. */
HIDDEN char __libc_single_threaded = 0;

/* glibc 2.36: std::random_device's source. */
HIDDEN uint32_t arc4random(void);
uint32_t arc4random(void) {
  uint32_t number = 0;
  if (getentropy(&number, sizeof number) != 0) abort();
  return number;
}
