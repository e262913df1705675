// SPDX-License-Identifier: Apache-2.0
package wh;

/** c2-inlined-chain: eleven methods in one activation of C2 code. */
final class InlinedChain {
  private InlinedChain() {}

  static void play() {
    Tiers.ready(InlinedChain::interpPass, InlinedChain.class);
    interpPass();
  }

  static void interpPass() {
    c2Root(7, "root", new long[] {1, 2, 3});
  }

  static long c2Root(long x, String s, long[] a) {
    return inlinedA(x + s.length(), s, a) + a[0];
  }

  private static long inlinedA(long x, String s, long[] a) {
    long mine = x * 3;
    return inlinedB((int) x, a, s) + mine;
  }

  private static long inlinedB(int i, long[] a, Object o) {
    Pair pair = new Pair(i, o); // never escapes: debug information must describe it
    return inlinedC(i + 0.5, a) + pair.left;
  }

  private static long inlinedC(double d, long[] a) {
    return (long) (inlinedD(a, a.length, 3f) * d);
  }

  private static long inlinedD(long[] a, int n, float f) {
    long mine = a[n - 1];
    return inlinedE(mine, n) + (long) f;
  }

  private static long inlinedE(long x, int n) {
    Pair pair = new Pair(n, x);
    long r = inlinedF(new Pair(n + 1, pair.right));
    return r + pair.left;
  }

  private static long inlinedF(Pair p) {
    return inlinedG(p.left, p) ^ p.left;
  }

  private static long inlinedG(long x, Object o) {
    String s = o == null ? "none" : "some";
    return inlinedH(x, s) + s.length();
  }

  private static long inlinedH(long x, String s) {
    synchronized (new Pair(x, s)) { // a lock that escape analysis removes
      return inlinedI(x - 1, s) * 5;
    }
  }

  private static long inlinedI(long x, String s) {
    return inlinedJ(s, x & 0xff) + x;
  }

  private static long inlinedJ(String s, long x) {
    Harness.park();
    return s.length() + x;
  }

  private static final class Pair {
    final long left;
    final Object right;

    Pair(long left, Object right) {
      this.left = left;
      this.right = right;
    }
  }
}
