// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** One run of one program: starts its threads, waits for them, says how it went. */
final class Run {
  static final int OK = 0;
  static final int FAILED = 1;
  static final int UNAVAILABLE = 3;
  private static final long GRACE_SECONDS = 120; // for the round that is under way

  private static final class Failure {
    final Context context;
    final Throwable thrown;

    Failure(Context context, Throwable thrown) {
      this.context = context;
      this.thrown = thrown;
    }
  }

  private final Options options;
  private final Program program;
  private final long endNanos;
  private final AtomicReference<Failure> failure = new AtomicReference<>(); // the first one
  private final CountDownLatch ended = new CountDownLatch(1); // once all threads end, or one fails
  private final AtomicInteger alive;

  Run(Options options, Program program) {
    this.options = options;
    this.program = program;
    endNanos = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.seconds);
    alive = new AtomicInteger(options.threads);
  }

  boolean goesOn() {
    return failure.get() == null
        && (options.seconds == 0 || System.nanoTime() - endNanos < 0);
  }

  /** Runs all threads to their end and returns the exit code. */
  int play() throws InterruptedException {
    List<Context> contexts = new ArrayList<>();
    for (int i = 0; i < options.threads; i++) {
      Context context = new Context(this, options, i);
      contexts.add(context);
      Thread thread = new Thread(null, () -> live(context), context.threadName());
      thread.setDaemon(true);
      thread.start();
    }
    boolean inTime = true;
    if (options.seconds == 0) {
      ended.await();
    } else {
      inTime = ended.await(options.seconds + GRACE_SECONDS, TimeUnit.SECONDS);
    }
    Failure first = failure.get();
    if (first != null) return explain(first.context, first.thrown);
    if (!inTime) {
      String late = " threads have not ended " + GRACE_SECONDS + " s after their time";
      return say(alive.get() + late, FAILED);
    }
    long rounds = contexts.stream().mapToLong(Context::rounds).sum();
    System.out.println("torture " + options.program + ": " + rounds + " rounds, ok");
    return OK;
  }

  private void live(Context context) {
    try {
      program.worker(context).work();
    } catch (Throwable thrown) {
      failure.compareAndSet(null, new Failure(context, thrown));
      ended.countDown();
    } finally {
      if (alive.decrementAndGet() == 0) ended.countDown();
    }
  }

  private int explain(Context context, Throwable thrown) {
    if (thrown instanceof Unavailable) return say(thrown.getMessage(), UNAVAILABLE);
    String where = "in round " + (context.rounds() + 1) + " of " + context.threadName()
        + " with seed " + options.seed + ", ";
    if (thrown instanceof Mismatch) return say(where + thrown.getMessage(), FAILED);
    StackTraceElement[] trace = thrown.getStackTrace();
    return say(where + thrown + " was thrown at "
        + (trace.length == 0 ? "an unknown place" : trace[0]), FAILED);
  }

  private int say(String sentence, int code) {
    System.err.println("torture " + options.program + ": " + sentence + ".");
    return code;
  }
}
