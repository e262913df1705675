// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * zombie-code: while this thread is parked, the code cache holds a zombie: code that was
 * invalidated, that no stack runs any more, and that the sweeper will free when it next comes. The
 * flags make the sweeper come whenever code is allocated; so it comes while guests are compiled,
 * and stays away once nothing is compiled.
 */
final class ZombieCode {
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final int LOOKS = 10; // each must see a zombie
  private static final long MILLIS_A_LOOK = 30;

  private ZombieCode() {}

  static void play() throws Exception {
    if (Harness.zombies() < 0) {
      throw new Unavailable(
          "It needs a sweeper (JDK 19 and before), and -XX:StartAggressiveSweepingAt=100 with"
              + " -XX:ReservedCodeCacheSize=8m -XX:-UseCodeCacheFlushing to have it come.");
    }
    long start = System.nanoTime();
    do {
      if (System.nanoTime() - start > DEADLINE_NS) {
        throw new Unavailable("No zombie lasted for " + LOOKS * MILLIS_A_LOOK + " ms within 10 s.");
      }
      Churn.newGuest().run();
    } while (!lasts());
    interpPass();
  }

  private static boolean lasts() throws InterruptedException {
    for (int i = 0; i < LOOKS; i++) {
      Thread.sleep(MILLIS_A_LOOK);
      if (Harness.zombies() == 0) return false;
    }
    return true;
  }

  private static void interpPass() {
    Harness.arm();
    Harness.park();
  }
}
