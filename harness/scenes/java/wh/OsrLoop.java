// SPDX-License-Identifier: Apache-2.0
package wh;

/** osr-loop: parked inside a loop that was entered by on-stack replacement. */
final class OsrLoop {
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final int STEPS_PER_POLL = 256;
  // Profiled code looks for better code only every few thousand back edges.
  private static final int STEPS_TO_SETTLE = 20_000;
  private static final String NAME = "osrLoop";
  private static final String SIGNATURE = "(Lwh/OsrLoop;J)J";

  private final long start = System.nanoTime();
  private final boolean c2 = Tiers.c2Enabled();
  private int reachedAt = -1;
  private boolean armed;

  private OsrLoop() {}

  static void play() {
    if (!Tiers.c2Enabled() && !Tiers.c1Enabled()) {
      throw new Unavailable("No compiler is on in this JVM, so there is no on-stack replacement.");
    }
    osrLoop(new OsrLoop(), 5);
  }

  private static long osrLoop(OsrLoop pacer, long seed) {
    Object held = "held";
    long sum = seed;
    int i = 0;
    do {
      sum = sum * 31 + i++;
      Harness.park(); // called in each iteration, so that C2 expects the call
    } while (!pacer.interpStep(i));
    return sum + held.hashCode();
  }

  /** Arms park() once the loop must be running in OSR code; returns true after park() has run. */
  private boolean interpStep(int i) {
    if (armed) return true;
    if (i % STEPS_PER_POLL != 0) return false;
    int level = Harness.level(OsrLoop.class, NAME, SIGNATURE, true);
    if (reachedAt < 0 && (c2 ? level == 4 : level > 0)) reachedAt = i;
    if (reachedAt >= 0 && i - reachedAt >= STEPS_TO_SETTLE) {
      Harness.expect("osr", OsrLoop.class, NAME, SIGNATURE);
      armed = true;
      Harness.arm();
    } else if (reachedAt < 0 && System.nanoTime() - start > DEADLINE_NS) {
      throw new Unavailable("The loop got no on-stack replacement within 10 s.");
    }
    return false;
  }
}
