// SPDX-License-Identifier: Apache-2.0
package wh;

/** What the tests of the reference provider's functions run; the names say how it is compiled. */
final class Api {
  static volatile boolean stop;
  static volatile int sink;

  private Api() {}

  /** Calls the test, in native. */
  static native void probe();

  static void interpProbe() {
    probe();
  }

  /** Calls the test at each hundredth call, the last one included: C1 has it by then. */
  static void c1Chain() {
    for (int i = 1; i <= 2_000; i++) {
      sink = i % 100 == 0 ? 1 : 0;
      c1Probe();
    }
  }

  private static void c1Probe() {
    if (sink != 0) {
      probe();
    }
  }

  /** The same for C2, with a method in between that is compiled into its caller. */
  static void c2Chain() {
    for (int i = 1; i <= 100_000; i++) {
      sink = i % 100 == 0 ? 1 : 0;
      c2Probe();
    }
  }

  private static void c2Probe() {
    inlinedProbe();
  }

  private static void inlinedProbe() {
    if (sink != 0) {
      probe();
    }
  }

  /** In Java code until `stop`. */
  static void interpSpin() {
    while (!stop) {
      sink++;
    }
  }

  static void c2Spin() {
    while (!stop) {
      inlinedWork();
    }
  }

  private static void inlinedWork() {
    sink++;
  }

  /** In the JVM, blocked, until `stop`. */
  static void interpSleep() throws InterruptedException {
    synchronized (Api.class) {
      while (!stop) {
        Api.class.wait(1_000);
      }
    }
  }

  static void wake() {
    synchronized (Api.class) {
      Api.class.notifyAll();
    }
  }
}
