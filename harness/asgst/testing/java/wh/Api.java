// SPDX-License-Identifier: Apache-2.0
package wh;

/** Methods that tests of the reference provider run; the names say how they are compiled. */
final class Api {
  static volatile boolean stop;
  static volatile int sink;
  private static Object rare;

  private Api() {}

  /** Calls the test, in native code. */
  static native void probe();

  static void interpProbe() {
    probe();
  }

  /** Calls the test at each hundredth call, also at the last, when C1 has compiled c1Probe. */
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

  /** Calls the test at each hundredth call, also at the last, when C2 has inlined inlinedProbe. */
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

  /** After a call of the test, c2Trapped meets a class that was not loaded when C2 compiled it. */
  static void c2Deopt() {
    for (int i = 0; i < 100_000; i++) {
      sink = 0;
      c2Trapped();
    }
    sink = 1;
    probe();
    c2Trapped();
  }

  private static void c2Trapped() {
    inlinedTrapped();
  }

  private static void inlinedTrapped() {
    if (sink != 0) {
      rare = new Rare();
    }
  }

  private static final class Rare {}

  /** Runs Java code until `stop`. */
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

  /** Is blocked in the JVM until `stop`. */
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
