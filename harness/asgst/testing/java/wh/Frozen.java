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

  /** The number of methods named *Step that the virtual thread is in; 0: none, or it is parked. */
  private static LongBuffer depth;
  private static boolean mixed;
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

  private static void run(int times, boolean calls) throws Exception {
    parks = probes = false;
    for (int i = 0; i < WARM_UP; i++) {
      interpStep(DEPTH);
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
        interpStep(DEPTH);
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
    move(1);
    long result = more <= 0 ? bottom() : mixed ? interpStep(more) : c1Step(more);
    move(-1);
    return result + work(more);
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
