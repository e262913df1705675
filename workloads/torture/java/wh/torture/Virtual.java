// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.concurrent.Exchanger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads that start, yield at depth, park, block while pinned, meet and end. */
final class Virtual extends Worker {
  private static final int BROOD = 64; // even: some meet in pairs
  private static final int MOST_LEVELS = 200;
  private static final Object SHARED = new Object();

  private final MethodHandle starter;

  Virtual(Context context) {
    super(context);
    try {
      starter = MethodHandles.publicLookup().findStatic(Thread.class, "startVirtualThread",
          MethodType.methodType(Thread.class, Runnable.class));
      start(() -> {});
    } catch (NoSuchMethodException | UnsupportedOperationException e) { // a preview in 19 and 20
      String jdk = System.getProperty("java.specification.version").replace("1.8", "8");
      throw new Unavailable("JDK " + jdk + " has no virtual threads");
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    }
  }

  private Thread start(Runnable work) {
    try {
      return (Thread) starter.invokeExact(work);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void round() throws InterruptedException {
    int count = BROOD * context.scale;
    Thread[] threads = new Thread[count];
    long[] results = new long[count];
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    long seed = context.random.nextLong();
    Exchanger<Long> exchanger = new Exchanger<>();
    for (int i = 0; i < count; i++) {
      int mine = i;
      threads[i] = start(() -> {
        Thread.currentThread().setName(context.threadName() + "-virtual-" + mine);
        try {
          results[mine] = descend(levels(seed, mine), seed + mine, mine, exchanger);
        } catch (Throwable e) {
          thrown.compareAndSet(null, e);
        }
      });
    }
    for (Thread thread : threads) {
      thread.join(context.patienceMillis());
      context.that(!thread.isAlive(), "a virtual thread has not ended");
    }
    if (thrown.get() != null) throw new Mismatch("a virtual thread threw " + thrown.get());
    for (int i = 0; i < count; i++) {
      long expected = seed + i + levels(seed, i) * (levels(seed, i) + 1L) / 2;
      context.same("a virtual thread's result", expected, context.planted(results[i]));
    }
  }

  private static int levels(long seed, int i) {
    return (int) ((Mix.mix(seed + i) >>> 1) % MOST_LEVELS);
  }

  private static long descend(int levels, long x, int kind, Exchanger<Long> exchanger)
      throws Exception {
    if (levels == 0) return x + bottom(kind, exchanger);
    return descend(levels - 1, x, kind, exchanger) + levels;
  }

  /** Returns 0. Each kind is another way to leave the carrier thread, or to stay on it. */
  private static long bottom(int kind, Exchanger<Long> exchanger) throws Exception {
    switch (kind / 2 % 6) {
      case 0:
        for (int i = 0; i < 10; i++) Thread.yield();
        return 0;
      case 1:
        LockSupport.parkNanos(200_000);
        return 0;
      case 2:
        synchronized (new Object()) { // pinned by a monitor, before JDK 24
          Thread.sleep(1);
        }
        return 0;
      case 3:
        FreshLoader.guest(PinningGuest.class).applyAsLong(1); // pinned by a native frame
        return 0;
      case 4:
        synchronized (SHARED) { // contended
          Thread.yield();
        }
        return 0;
      default:
        return exchanger.exchange(5L) - 5;
    }
  }
}
