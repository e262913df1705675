// SPDX-License-Identifier: Apache-2.0
// A library with code to cover: branches, and a function that is called on one side of a branch.
// ListingTest reads it. It is small, so that this takes no time.
volatile int coverage_test_sink;

#define WH_COVERED __attribute__((noinline))
extern "C" {
WH_COVERED void WalkhammerTestCallee() { coverage_test_sink = 7; }
WH_COVERED int WalkhammerTestCode(int x) {
  if (x < 0) coverage_test_sink = 5;
  if (coverage_test_sink == 6) coverage_test_sink = 8;
  if (x > 3) {
    coverage_test_sink = 1;
    WalkhammerTestCallee();
    coverage_test_sink = 2;
  } else {
    coverage_test_sink = 3;
    coverage_test_sink = 4;
  }
  return coverage_test_sink;
}
}
