// SPDX-License-Identifier: Apache-2.0
// A library that a test loads late. Its functions keep no frame pointer, so only their .eh_frame
// leads to their callers.
extern "C" {

__attribute__((noinline)) int late_inner(void (*body)()) {
  body();
  return 1;
}

__attribute__((noinline)) int late_outer(void (*body)()) { return late_inner(body) + 1; }

}  // extern "C"
