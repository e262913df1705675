// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Threads that start and exit by the dozen: with small stacks, children, failures, interrupts. */
final class Threads extends Worker {
  private static final int BROOD = 16;
  private static final int KINDS = 5;

  Threads(Context context) {
    super(context);
  }

  private static final class Planned extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  @Override
  public void round() throws InterruptedException {
    AtomicLong sum = new AtomicLong();
    AtomicInteger planned = new AtomicInteger();
    Thread[] threads = new Thread[BROOD * context.scale];
    long expected = 0;
    for (int i = 0; i < threads.length; i++) {
      int kind = i % KINDS;
      long x = context.random.nextInt();
      expected += x;
      long stackBytes = 256L << 10 << kind;
      String name = context.threadName() + "-" + i;
      threads[i] = new Thread(null, () -> live(kind, x, sum), name, stackBytes);
      threads[i].setDaemon(true);
      threads[i].setUncaughtExceptionHandler(
          (thread, thrown) -> planned.addAndGet(thrown instanceof Planned ? 1 : 1 << 16));
      threads[i].start();
      if (kind == 3) threads[i].interrupt();
      if (kind == 4) LockSupport.unpark(threads[i]);
    }
    for (Thread thread : threads) {
      thread.join(context.patienceMillis());
      context.that(thread.getState() == Thread.State.TERMINATED, "a thread has not ended");
    }
    context.same("the sum of all threads", expected, context.planted(sum.get()));
    int failing = (threads.length - 2 + KINDS - 1) / KINDS; // those of kind 2
    context.same("uncaught exceptions", failing, planned.get());
  }

  private static void live(int kind, long x, AtomicLong sum) {
    switch (kind) {
      case 1:
        Thread child = new Thread(null, () -> sum.addAndGet(x), "torture-child");
        child.start();
        join(child);
        break;
      case 2:
        sum.addAndGet(x);
        throw failure(20);
      case 3:
        sum.addAndGet(untilInterrupted(x));
        break;
      case 4:
        LockSupport.parkNanos(20_000_000); // unless unparked before
        sum.addAndGet(x);
        break;
      default:
        sum.addAndGet(recurse(100, x) - 100);
    }
  }

  private static Planned failure(int levels) {
    if (levels > 0) throw failure(levels - 1);
    return new Planned();
  }

  private static long untilInterrupted(long x) {
    try {
      Thread.sleep(60_000);
    } catch (InterruptedException e) {
      return x;
    }
    return x + 1;
  }

  private static long recurse(int levels, long x) {
    return levels == 0 ? x : recurse(levels - 1, x) + 1;
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e); // no code interrupts this kind
    }
  }
}
