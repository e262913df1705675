// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Deep recursion through frames of four shapes, now and then into the guard pages and back. */
final class Recursion extends Worker {
  private static final int MOST_HITS = 6; // overflows that one dive recovers from
  private static final int RECOVERY_STRIDE = 512;
  private static final long ENDLESS = Integer.MAX_VALUE;

  private final Shape[] shapes = {this::slim, this::wide, this::real, this::guarded};
  private boolean overflows; // whether to overflow the stack at the deepest level
  private int hits;
  private long deepest;

  private interface Shape {
    long descend(long levels, long x);
  }

  Recursion(Context context) {
    super(context);
  }

  @Override
  public void round() {
    long levels = 200 + context.random.nextInt(600);
    long x = context.random.nextLong();
    overflows = false; // this check initialises all classes before the first dive
    check(levels, x);
    overflows = true;
    check(levels, x);
    context.that(deepest > levels, "no dive went deeper than " + deepest + " levels");
  }

  private void check(long levels, long x) {
    long expected = 0;
    long at = x;
    for (long level = levels; level > 0; level--) {
      expected += at;
      at = Mix.mix(at + level);
    }
    String what = "what " + levels + " levels add up to" + (overflows ? " around overflows" : "");
    context.same(what, expected + at, context.planted(next(levels, x)));
  }

  private long next(long levels, long x) {
    if (levels > 0) return shapes[(int) (levels + x & 3)].descend(levels, x);
    if (overflows) overflow(x);
    return x;
  }

  private void overflow(long x) {
    for (int dive = 0; dive < context.scale; dive++) {
      hits = 0;
      deepest = 0;
      try {
        dive(ENDLESS, x);
      } catch (StackOverflowError e) {
        continue;
      }
      throw new Mismatch("endless recursion came to an end");
    }
  }

  // Calls no code of the JDK: an overflow in the JDK could break it for good.
  private long dive(long levels, long x) {
    deepest = ENDLESS - levels;
    if (deepest % RECOVERY_STRIDE != RECOVERY_STRIDE - 1) return dive(levels - 1, x ^ levels) + x;
    try {
      return diveWide(levels - 1, x, x + 1, x + 2, x + 3, levels) + x;
    } catch (StackOverflowError e) {
      if (++hits > MOST_HITS) throw e;
      return dive(levels - 1, x + 1) + x;
    }
  }

  private long diveWide(long levels, long a, long b, long c, long d, double e) {
    return dive(levels - 1, a + b) + c + d + (long) e;
  }

  private long slim(long levels, long x) {
    return next(levels - 1, Mix.mix(x + levels)) + x;
  }

  private long wide(long levels, long x) {
    long a = x * 3, b = x * 5, c = x * 7, d = x * 11, e = x * 13, f = x * 17, g = x * 19;
    long below = next(levels - 1, Mix.mix(x + levels));
    context.same("a sum of locals", x * 75, a + b + c + d + e + f + g);
    return below + x;
  }

  private long real(long levels, long x) {
    double half = levels * 0.5;
    float quarter = levels * 0.25f;
    long below = next((long) (half * 2) - 1, Mix.mix(x + levels));
    context.that(half == 2 * quarter, "a float and a double differ after a call");
    return below + x;
  }

  private long guarded(long levels, long x) {
    Object mine = new long[] {x, levels};
    synchronized (mine) {
      return next(levels - 1, Mix.mix(x + levels)) + ((long[]) mine)[0];
    }
  }
}
