// SPDX-License-Identifier: Apache-2.0
package wh;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.concurrent.locks.LockSupport;

/** Virtual threads that park at depth: most of their frames are in the heap when they go on. */
final class Frozen {
  private static final int DEPTH = 90;
  private static final int WARM_UP = 1_000;
  private static final IllegalStateException LEAVE = new IllegalStateException();

  /**
   * The number of activations of interpStep, c1Step, c2Step and c2Throw that the virtual thread is
   * in; 0: none, or it is parked. inlinedStep does not count: where compiled code is interrupted,
   * debug information does not tell for certain what is inlined there.
   */
  private static LongBuffer depth;
  private static boolean mixed;
  private static boolean thrown;
  private static boolean parks;
  private static boolean probes;

  private Frozen() {}

  /** The depth is kept in this memory. */
  static void open(ByteBuffer memory) {
    depth = memory.order(ByteOrder.nativeOrder()).asLongBuffer();
  }

  /** Calls the test at several depths, with interpreted and compiled frames in the heap. */
  static void probeMixed(int times) throws Exception {
    mixed = true;
    run(times, true);
  }

  /** The same with compiled frames alone. */
  static void probeCompiled(int times) throws Exception {
    mixed = false;
    run(times, true);
  }

  /** Parks at depth and goes on, without calls of the test. */
  static void parkMixed(int times) throws Exception {
    mixed = true;
    run(times, false);
  }

  static void parkCompiled(int times) throws Exception {
    mixed = false;
    run(times, false);
  }

  /** Parks at depth, and leaves all methods by an exception. */
  static void parkThrown(int times) throws Exception {
    thrown = true;
    run(times, false);
    thrown = false;
  }

  private static void run(int times, boolean calls) throws Exception {
    parks = probes = false;
    for (int i = 0; i < WARM_UP; i++) {
      enter();
    }
    parks = true;
    probes = calls;
    Thread thread = (Thread) Thread.class.getMethod("startVirtualThread", Runnable.class)
        .invoke(null, new Runs(times));
    thread.join();
  }

  private static final class Runs implements Runnable {
    private final int times;

    Runs(int times) {
      this.times = times;
    }

    @Override
    public void run() {
      for (int i = 0; i < times; i++) {
        enter();
      }
    }
  }

  private static void enter() {
    if (!thrown) {
      interpStep(DEPTH);
      return;
    }
    try {
      c2Throw(4 * DEPTH);
    } catch (IllegalStateException e) {
      if (e != LEAVE) {
        throw e;
      }
    }
  }

  private static void move(int by) {
    depth.put(0, depth.get(0) + by);
  }

  private static long interpStep(int more) {
    move(1);
    long result = c1Step(more - 1) + more;
    move(-1);
    return result;
  }

  private static long c1Step(int more) {
    move(1);
    long result = c2Step(more - 1) + more;
    probe(more);
    move(-1);
    return result;
  }

  private static long c2Step(int more) {
    move(1);
    long result = inlinedStep(more - 1) + more;
    move(-1);
    return result;
  }

  private static long inlinedStep(int more) {
    long result = more <= 0 ? bottom() : mixed ? interpStep(more) : c1Step(more);
    return result + work(more);
  }

  private static long c2Throw(int more) {
    move(1);
    try {
      if (more <= 0) {
        bottom();
        throw LEAVE;
      }
      return c2Throw(more - 1);
    } finally {
      move(-1);
    }
  }

  private static long work(int rounds) {
    long sum = 0;
    for (int i = 0; i < 200 * rounds; i++) {
      sum += sum ^ i;
      Api.sink = (int) sum;
    }
    return sum;
  }

  private static void probe(int more) {
    if (probes && more % 5 == 0) {
      Api.probe();
    }
  }

  private static long bottom() {
    if (parks) {
      long kept = depth.get(0);
      depth.put(0, 0);
      LockSupport.parkNanos(10_000);
      depth.put(0, kept);
    }
    probe(0);
    return 0;
  }
}
