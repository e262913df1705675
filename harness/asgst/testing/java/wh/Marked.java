// SPDX-License-Identifier: Apache-2.0
package wh;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;

/**
 * Methods that the tests of frame marks run. A test marks the frame that is called next to step(),
 * which then tells the test that the caller has gone on.
 */
final class Marked {
  static LongBuffer steps;
  static volatile Object last;
  static final long[] sums = new long[2];

  private Marked() {}

  /** Steps are counted in this memory. */
  static void open(ByteBuffer memory) {
    steps = memory.order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  private static void step() {
    steps.put(0, steps.get(0) + 1);
  }

  static void interpCallsInterp(int times) {
    for (int i = 0; i < times; i++) {
      interpMarked(i, 2L, null);
      step();
    }
  }

  private static void interpMarked(int number, long more, Object none) {
    Api.probe();
  }

  static void c1Calls(int times) {
    for (int i = 0; i < times; i++) {
      c1Marked(i, 2L, null);
      step();
    }
  }

  private static void c1Marked(int number, long more, Object none) {
    Api.probe();
  }

  static void c2CallsC2(int times) {
    for (int i = 0; i < times; i++) {
      c2Marked(i, 2L, null);
      step();
    }
  }

  private static void c2Marked(int number, long more, Object none) {
    inlinedProbe();
  }

  private static void inlinedProbe() {
    Api.probe();
  }

  static void c2CallsInterp(int times) {
    for (int i = 0; i < times; i++) {
      interpMarked(i, 2L, null);
      step();
    }
  }

  static void interpCallsC2(int times) {
    for (int i = 0; i < times; i++) {
      c2Marked(i, 2L, null);
      step();
    }
  }

  /** The marked frame is that of the native method itself. */
  static void interpCallsNative(int times) {
    for (int i = 0; i < times; i++) {
      Api.probe();
      step();
    }
  }

  static void c2CallsNative(int times) {
    for (int i = 0; i < times; i++) {
      Api.probe();
      step();
    }
  }

  /** The marked frame is replaced by a compiled one while it loops; each loop is a step, too. */
  static void replacedCalls(int times) {
    for (int i = 0; i < times; i++) {
      replaced(20_000_000);
      step();
    }
  }

  private static void replaced(int rounds) {
    Api.probe();
    long sum = 0;
    for (int i = 0; i < rounds; i++) {
      sum += i ^ sum;
    }
    sums[0] = sum;
    step();
  }

  /** The marked frame has a deep operand stack at the first probe, and a flat one afterwards. */
  static void interpCallsDeepThenFlat(int times) {
    for (int i = 0; i < times; i++) {
      interpDeepThenFlat(i);
      step();
    }
  }

  private static void interpDeepThenFlat(int n) {
    last = interpSum(n, n, n, n, n, n, n, n, interpProbeOf(n));
    interpNothing();
    c2Nothing();
    interpNothing();
  }

  private static int interpProbeOf(int n) {
    Api.probe();
    return n;
  }

  private static Integer interpSum(int a, int b, int c, int d, int e, int f, int g, int h, int i) {
    return a + b + c + d + e + f + g + h + i;
  }

  private static void interpNothing() {}

  private static void c2Nothing() {}

  /** Recursions whose innermost frame calls probe. */
  static void interpDown(int frames) {
    if (frames == 0) {
      Api.probe();
    } else {
      interpDown(frames - 1);
    }
  }

  static void c2Down(int frames) {
    if (frames == 0) {
      Api.probe();
    } else {
      c2Down(frames - 1);
    }
  }

  /** Throws over two frames and catches in a third; step() is the handler's first call. */
  static void interpCatches(int times) {
    for (int i = 0; i < times; i++) {
      try {
        interpThrows(i);
      } catch (IllegalStateException e) {
        step();
      }
    }
  }

  private static void interpThrows(int number) {
    interpThrower(number);
    last = null;
  }

  private static void interpThrower(int number) {
    Api.probe();
    throw new IllegalStateException();
  }

  static void c2Catches(int times) {
    for (int i = 0; i < times; i++) {
      try {
        c2Throws(i);
      } catch (IllegalStateException e) {
        step();
      }
    }
  }

  private static void c2Throws(int number) {
    c2Thrower(number);
    last = null;
  }

  private static void c2Thrower(int number) {
    Api.probe();
    throw new IllegalStateException();
  }

  /**
   * The marked method is deoptimised after the probe of the last call. Its compiled frame is larger
   * than the interpreted one: the method that is inlined keeps many values.
   */
  static void c2CallsTrap(int times) {
    for (int i = 0; i < times; i++) {
      c2Traps(i, i == times - 1);
      step();
    }
  }

  private static void c2Traps(long n, boolean trap) {
    inlinedTrap(n, trap);
    interpNothing();
  }

  private static void inlinedTrap(long n, boolean trap) {
    long a = n * 3, b = n * 5, c = n * 7, d = n * 11, e = n * 13, f = n * 17, g = n * 19;
    long h = n * 23, i = n * 29, j = n * 31, k = n * 37, l = n * 41, m = n * 43, o = n * 47;
    long p = a ^ n, q = b ^ n, r = c ^ n, s = d ^ n, t = e ^ n, u = f ^ n, v = g ^ n, w = h ^ n;
    Api.probe();
    if (trap) {
      last = Integer.valueOf(7);
    }
    sums[0] = a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
    sums[1] = l + 2 * m + 3 * o + 4 * p + 5 * q + 6 * r + 7 * s + 8 * t + 9 * u + 10 * v + 11 * w;
  }

  /** Counts the objects that the marked method did not return as it should. */
  static int c2CallsForObjects(int times) {
    int wrong = 0;
    for (int i = 0; i < times; i++) {
      Object[] made = c2Object(i);
      if (made.length != i % 7 + 1 || !Integer.valueOf(i).equals(made[0])) {
        wrong++;
      }
    }
    return wrong;
  }

  private static Object[] c2Object(int number) {
    Object[] made = new Object[number % 7 + 1];
    made[0] = number;
    Api.probe();
    return made;
  }

  /** Collects garbage until `stop`. */
  static void collect() {
    while (!Api.stop) {
      for (int i = 0; i < 1_000; i++) {
        last = new byte[1_000];
      }
      System.gc();
    }
  }

  /** Calls probe on virtual threads, in a method that returns before its caller leaves the carrier. */
  static void virtualProbes(int times) throws Exception {
    var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    for (int i = 0; i < times; i++) {
      ((Thread) start.invoke(null, (Runnable) Marked::probeThenYield)).join();
    }
  }

  private static void probeThenYield() {
    interpMarked(0, 2L, null);
    Thread.yield();
    step();
  }
}
