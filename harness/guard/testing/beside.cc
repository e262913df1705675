// SPDX-License-Identifier: Apache-2.0
// A library that is found through caller.cc's RUNPATH alone.
extern "C" __attribute__((visibility("default"))) int wh_beside() { return 1; }
