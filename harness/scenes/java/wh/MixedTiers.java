// SPDX-License-Identifier: Apache-2.0
package wh;

/** mixed-tiers: each call but one goes through an i2c or c2i adapter or between C1 and C2 code. */
final class MixedTiers {
  private MixedTiers() {}

  static void play() {
    Tiers.ready(MixedTiers::interpPass, MixedTiers.class);
    interpPass();
  }

  static void interpPass() {
    c1One(1, 2L, "three");
  }

  private static long c1One(int i, long l, String s) {
    Object held = s;
    return interpTwo(i + 1, l * 2, s, 0.5) + (held == null ? 0 : l);
  }

  private static long interpTwo(int i, long l, String s, double d) {
    return c2Three(l, i, d, s) + i;
  }

  private static long c2Three(long l, int i, double d, String s) {
    long mine = l * 17;
    long r = interpFour(i, i + 1, i + 2, i + 3, i + 4, i + 5, l, l + 1, s, d, 2f, s);
    return r + mine + s.length();
  }

  // More arguments than registers: the adapters must move some on the stack.
  private static long interpFour(
      int a, int b, int c, int d, int e, int f, long g, long h,
      Object o, double x, float y, String s) {
    return c1Five(s, f, e, d, c, b, a, h, g, y, x, o) + a;
  }

  private static long c1Five(
      String s, int f, int e, int d, int c, int b, int a, long h, long g,
      float y, double x, Object o) {
    long mine = g + h;
    return c2Six(a, b, c, d, e, f, g, h, s, o, x, y) + mine + s.length();
  }

  private static long c2Six(
      int a, int b, int c, int d, int e, int f, long g, long h,
      String s, Object o, double x, float y) {
    long mine = a ^ b ^ c ^ d ^ e ^ f;
    return c1Seven(g, s, x) + mine + h + (long) y + (o == s ? 1 : 2);
  }

  private static long c1Seven(long g, String s, double x) {
    String held = s;
    return interpEight(g + 1, x) + held.length();
  }

  private static long interpEight(long g, double x) {
    return c1Nine((int) g, 1f, x, new Object[] {"a", "b"}) + g;
  }

  private static long c1Nine(int i, float f, double x, Object[] held) {
    return c2Ten(held, i) + (long) (f + x) + held.length;
  }

  private static long c2Ten(Object[] held, long l) {
    long mine = l << 3;
    return c2Eleven(l + 1) + mine + held.length;
  }

  private static long c2Eleven(long l) {
    return interpTwelve(l, 1, 2.5) ^ l;
  }

  private static long interpTwelve(long l, int i, double d) {
    Harness.park();
    return l + i + (long) d;
  }
}
