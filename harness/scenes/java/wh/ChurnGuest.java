// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * One life of churned code: compiled while Only has no subclass, invalidated by loading Rival,
 * compiled again, dropped. Churn loads this class anew each time.
 */
public final class ChurnGuest implements Runnable {
  private static final int CALLS = 3000; // enough for C2, see jvm_flags.txt

  public ChurnGuest() {}

  @Override
  public void run() {
    warm(new Only());
    try {
      warm((Only) Class.forName("wh.ChurnGuest$Rival").getDeclaredConstructor().newInstance());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  private static void warm(Only only) {
    for (int i = 0; i < CALLS; i++) bestTotal(only, i);
  }

  private static long bestTotal(Only only, long x) {
    long total = 0;
    for (int i = 0; i < 8; i++) total += only.weigh(x + i);
    return total;
  }

  static class Only {
    long weigh(long x) {
      return x * 3;
    }
  }

  /** Only the string above names this class, so nothing else loads it. */
  static final class Rival extends Only {
    @Override
    long weigh(long x) {
      return x;
    }
  }
}
