// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * pending-deopt: two activations of C2 code that is no longer entrant. Nested calls of the same
 * methods take a branch that C2 had left to an uncommon trap, which invalidates the code; the outer
 * activations still run in that code, with their return addresses unchanged.
 */
final class PendingDeopt {
  private static boolean trap;

  private PendingDeopt() {}

  static void play() {
    Tiers.warm(PendingDeopt::interpPass, PendingDeopt.class);
    Tiers.expectAll("invalidated", PendingDeopt.class);
    trap = true;
    Harness.arm();
    interpPass();
  }

  static void interpPass() {
    c2Outer(5, "outer", false);
  }

  private static long c2Outer(long x, String held, boolean cold) {
    if (cold) return x - held.length();
    return interpBetween(x + 1, held) + held.length();
  }

  private static long interpBetween(long x, String held) {
    return c2Inner(x, new long[] {x}, false) + held.length();
  }

  private static long c2Inner(long x, long[] held, boolean cold) {
    if (cold) return x - held[0];
    return interpLeaf(x + held[0]) + held[0];
  }

  private static long interpLeaf(long x) {
    if (trap) {
      x += c2Outer(x, "cold", true);
      x += c2Inner(x, new long[] {x}, true);
    }
    Harness.park();
    return x;
  }
}
