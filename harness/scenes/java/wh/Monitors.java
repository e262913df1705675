// SPDX-License-Identifier: Apache-2.0
package wh;

import java.util.concurrent.CountDownLatch;

/** monitor-held, monitor-enter, monitor-enter-c2 and monitor-wait. */
final class Monitors {
  private static final long WAIT_MS = 1;

  private Monitors() {}

  static void playHeld() {
    Held held = new Held();
    Tiers.ready(held::interpPass, Held.class, Other.class);
    held.interpPass();
  }

  static void playEnter() throws InterruptedException {
    Enter enter = new Enter();
    Tiers.warm(enter::interpPass, Enter.class);
    Tiers.expect(Enter.class);
    blockAtNextEnter(enter.lock);
    enter.interpPass();
  }

  static void playEnterC2() throws InterruptedException {
    EnterC2 enter = new EnterC2();
    Tiers.warm(enter::interpPass, EnterC2.class);
    Tiers.expect(EnterC2.class);
    blockAtNextEnter(enter.lock);
    enter.interpPass();
  }

  /** Makes another thread hold the lock, for as long as the JVM lives. */
  private static void blockAtNextEnter(Object lock) throws InterruptedException {
    CountDownLatch isHeld = new CountDownLatch(1);
    Thread holder = new Thread(() -> hold(lock, isHeld), "scene-monitor-enter-holder");
    holder.setDaemon(true);
    holder.start();
    isHeld.await();
    Harness.parkAtMonitorEvent("monitor-enter");
  }

  private static void hold(Object lock, CountDownLatch isHeld) {
    synchronized (lock) {
      isHeld.countDown();
      try {
        Thread.sleep(Long.MAX_VALUE);
      } catch (InterruptedException e) {
        // No code interrupts this thread; an interrupt would release the lock.
      }
    }
  }

  static void playWait() {
    Waiting waiting = new Waiting();
    Tiers.warm(waiting::interpPass, Waiting.class);
    Tiers.expect(Waiting.class);
    waiting.timeoutMs = WAIT_MS;
    Harness.parkAtMonitorEvent("monitor-wait");
    waiting.interpPass();
  }

  static final class Held {
    private final Object second = new Object();
    private final Other third = new Other();

    private Held() {}

    void interpPass() {
      interpFirst(1, "first");
    }

    private synchronized long interpFirst(long x, String held) {
      return bestSecond(x + 1, held) + held.length();
    }

    private long bestSecond(long x, String held) {
      synchronized (second) {
        return third.bestThird(this, held, x) + x;
      }
    }

    // Recursive: the first monitor is held twice.
    private synchronized long interpAgain(long x) {
      Harness.park();
      return x;
    }
  }

  static final class Other {
    private Other() {}

    private synchronized long bestThird(Held first, String held, long x) {
      return first.interpAgain(x) + held.length();
    }
  }

  static final class Enter {
    private final Object lock = new Object();

    private Enter() {}

    void interpPass() {
      bestCall(1, "call");
    }

    private long bestCall(long x, String held) {
      return interpEnter(x + 1) + held.length();
    }

    private long interpEnter(long x) {
      synchronized (lock) {
        return x;
      }
    }
  }

  /** The slow path of a lock in C2 code runs in a runtime stub. */
  static final class EnterC2 {
    private final Object lock = new Object();

    private EnterC2() {}

    void interpPass() {
      interpCall(1);
    }

    private long interpCall(long x) {
      return c2Enter(x, "enter") + x;
    }

    private long c2Enter(long x, String held) {
      synchronized (lock) {
        return x + held.length();
      }
    }
  }

  static final class Waiting {
    private final Object lock = new Object();
    private long timeoutMs; // 0 in warm-up: do not wait

    private Waiting() {}

    void interpPass() {
      bestCall(1, "call");
    }

    private long bestCall(long x, String held) {
      return interpWait(x + 1) + held.length();
    }

    private long interpWait(long x) {
      synchronized (lock) {
        try {
          if (timeoutMs > 0) lock.wait(timeoutMs);
        } catch (InterruptedException e) {
          return -x;
        }
        return x;
      }
    }
  }
}
