// SPDX-License-Identifier: Apache-2.0
package wh;

/** Methods that the tests of queues run; most call Api.probe() twice: see the tests. */
final class Queued {
  static volatile int sink;

  private Queued() {}

  static void interpLeaf() {
    Api.probe();
  }

  static void interpTwice() {
    Api.probe();
    Api.probe();
  }

  static void interpLeafThenProbe() {
    interpLeaf();
    Api.probe();
  }

  static void interpLeafFromTwoPlaces() {
    interpLeaf();
    interpLeaf();
  }

  static void interpLeafFromOnePlace() {
    for (int i = 0; i < 2; i++) {
      interpLeaf();
    }
  }

  static void interpDeepThenProbe() {
    interpDeep(12);
    Api.probe();
  }

  private static void interpDeep(int frames) {
    if (frames == 0) {
      Api.probe();
    } else {
      interpDeep(frames - 1);
    }
  }

  /** C2 compiles osrTwice from the loop on, later with what follows; the last two probes count. */
  static void interpOsrTwice() {
    for (int i = 0; i < 5; i++) {
      osrTwice();
    }
  }

  private static void osrTwice() {
    Api.probe();
    for (int i = 0; i < 1_000_000; i++) {
      sink++;
    }
    Api.probe();
  }

  /** As interpOsrTwice, with one more word on the stack: compiled frames are aligned. */
  static void interpOsrDeeper() {
    for (int i = 0; i < 5; i++) {
      sink = sink + osrValue();
    }
  }

  private static int osrValue() {
    Api.probe();
    for (int i = 0; i < 1_000_000; i++) {
      sink++;
    }
    Api.probe();
    return 1;
  }

  /** C2 compiles c2Twice with both probes; the last two probes count. */
  static void warmC2Twice() {
    for (int i = 0; i < 20_001; i++) {
      c2Twice();
    }
  }

  private static void c2Twice() {
    inlinedFirst();
    inlinedSecond();
  }

  private static void inlinedFirst() {
    Api.probe();
  }

  private static void inlinedSecond() {
    Api.probe();
  }

  /** The last two probes count; between them c2Leaf returns and its caller is deoptimised. */
  static void warmC2LeafThenProbe() {
    for (int i = 0; i < 20_001; i++) {
      c2LeafThenProbe();
    }
  }

  private static void c2LeafThenProbe() {
    c2Leaf();
    inlinedSecond();
  }

  private static void c2Leaf() {
    Api.probe();
  }

  /** Runs one virtual thread after the other, each with one probe. */
  static void virtualLeaves() throws Exception {
    var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    for (int i = 0; i < 100; i++) {
      ((Thread) start.invoke(null, (Runnable) Queued::interpLeaf)).join();
    }
  }

  /** Makes many short calls, for samples at any place. */
  static void interpCalls() {
    while (!Api.stop) {
      interpOne();
    }
  }

  private static void interpOne() {
    interpTwo();
  }

  private static void interpTwo() {
    sink++;
  }

  static void c2Calls() {
    while (!Api.stop) {
      c2One(40);
    }
  }

  private static int c2One(int n) {
    return n == 0 ? sink++ : c2One(n - 1) + 1;
  }
}
