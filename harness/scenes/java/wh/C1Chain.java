// SPDX-License-Identifier: Apache-2.0
package wh;

/** c1: ten methods compiled by C1, each with a frame of another shape. */
final class C1Chain {
  private C1Chain() {}

  static void play() {
    Tiers.ready(C1Chain::interpPass, C1Chain.class);
    interpPass();
  }

  static void interpPass() {
    c1One(3, "one");
  }

  private static long c1One(long x, String held) {
    return c1Two((int) x, held, 2.5) + held.length() + x;
  }

  private static long c1Two(int i, Object o, double d) {
    return c1Three(o, i * 3L, i) + (long) d + (o == null ? 1 : i);
  }

  private static long c1Three(Object o, long x, int i) {
    long[] held = {x, i};
    return c1Four(x + held[1], held, o) + held[0] + held.length;
  }

  private static long c1Four(long x, long[] held, Object o) {
    String mine = "four";
    return c1Five(x, x + 1, x + 2, 4, 5, mine, o, held) + mine.length() + held[0];
  }

  // More arguments than registers.
  private static long c1Five(
      long a, long b, long c, int d, int e, String s, Object o, long[] held) {
    long sum = a + b + c;
    return c1Six(s, sum) + sum + d + e + held.length + (o == s ? 1 : 0);
  }

  private static long c1Six(String held, long x) {
    return c1Seven(x ^ 7, 0.5f, 1.5) + held.length();
  }

  private static long c1Seven(long x, float f, double d) {
    double kept = d * f;
    return c1Eight(new Object[] {"a", "b", "c"}) + (long) kept + x;
  }

  private static long c1Eight(Object[] held) {
    long a = held.length, b = a * 2, c = a * 3, d = a * 5, e = a * 7, f = a * 11, g = a * 13;
    return c1Nine(g) + a + b + c + d + e + f + g + held.length;
  }

  private static long c1Nine(long x) {
    return c1Ten("ten", (int) x) + x;
  }

  private static long c1Ten(String held, int x) {
    Harness.park();
    return held.length() + x;
  }
}
