// SPDX-License-Identifier: Apache-2.0
package wh;

/** c2: 23 activations of twelve methods compiled by C2, in a stack of 30 frames altogether. */
final class C2Chain {
  private static final int LAPS = 2;

  private C2Chain() {}

  static void play() {
    Tiers.ready(C2Chain::interpPass, C2Chain.class);
    interpPass();
  }

  static void interpPass() {
    c2One(LAPS, 3, "one");
  }

  private static long c2One(int laps, long x, String held) {
    return c2Two(laps, x + 1, held, 2.5) + held.length() + x;
  }

  private static long c2Two(int laps, long x, Object o, double d) {
    return c2Three(o, x * 3, laps) + (long) d + (o == null ? 1 : x);
  }

  private static long c2Three(Object o, long x, int laps) {
    long[] held = {x, laps};
    return c2Four(x + held[1], held, o, laps) + held[0] + held.length;
  }

  private static long c2Four(long x, long[] held, Object o, int laps) {
    String mine = "four";
    return c2Five(x, x + 1, x + 2, 4, laps, mine, o, held) + mine.length() + held[0];
  }

  // More arguments than registers.
  private static long c2Five(
      long a, long b, long c, int d, int laps, String s, Object o, long[] held) {
    long sum = a + b + c;
    return c2Six(s, sum, laps) + sum + d + held.length + (o == s ? 1 : 0);
  }

  private static long c2Six(String held, long x, int laps) {
    return c2Seven(x ^ 7, laps, 0.5f, x * 1.5) + held.length();
  }

  private static long c2Seven(long x, int laps, float f, double d) {
    double kept = d * f;
    return c2Eight(new Object[] {"a", "b", "c"}, laps) + (long) kept + x;
  }

  private static long c2Eight(Object[] held, int laps) {
    long a = held.length + laps, b = a * 2, c = a * b, d = a * c, e = b ^ d, f = e * a, g = f - e;
    return c2Nine(g, laps) + a + b + c + d + e + f + g + held.length;
  }

  private static long c2Nine(long x, int laps) {
    Pair replaced = new Pair(x, laps); // never escapes: debug information must describe it
    return c2Ten(laps, x) + replaced.left + replaced.right;
  }

  private static long c2Ten(int laps, long x) {
    return c2Eleven("eleven", laps, x);
  }

  private static long c2Eleven(String held, int laps, long x) {
    long rest = laps > 1 ? c2One(laps - 1, x, held) : c2Leaf(x, held);
    return rest + held.length();
  }

  private static long c2Leaf(long x, String held) {
    Harness.park();
    return x + held.length();
  }

  private static final class Pair {
    final long left;
    final long right;

    Pair(long left, long right) {
      this.left = left;
      this.right = right;
    }
  }
}
