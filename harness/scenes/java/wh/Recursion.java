// SPDX-License-Identifier: Apache-2.0
package wh;

/** interpreted-recursion and deep-recursion. */
final class Recursion {
  private static final int INTERPRETED_ACTIVATIONS = 24;
  private static final int DEEP_ACTIVATIONS = 10_000;
  private static final int WARM_ACTIVATIONS = 10;

  private Recursion() {}

  static void playInterpreted() {
    Harness.arm();
    Interpreted.interpRecurse(INTERPRETED_ACTIVATIONS, 1L, "top", 0.5);
  }

  static void playDeep() {
    Tiers.ready(() -> Deep.bestRecurse(WARM_ACTIVATIONS, 1L, "top"), Deep.class);
    Deep.bestRecurse(DEEP_ACTIVATIONS, 1L, "top");
  }

  static final class Interpreted {
    private Interpreted() {}

    static long interpRecurse(int activations, long sum, Object held, double d) {
      long mine = sum * 31 + activations;
      if (activations > 1) mine += interpRecurse(activations - 1, mine, "held", d / 2);
      else Harness.park();
      return held == null ? mine : mine + (long) d;
    }
  }

  static final class Deep {
    private Deep() {}

    static long bestRecurse(int activations, long sum, String held) {
      long mine = sum * 31 + activations;
      if (activations > 1) mine += bestRecurse(activations - 1, mine, held);
      else Harness.park();
      return mine + held.length();
    }
  }
}
