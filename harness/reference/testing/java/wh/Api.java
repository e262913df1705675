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

  static void c2Probe() {
    inlinedProbe();
  }

  private static void inlinedProbe() {
    if (sink < 0) {
      probe();
    }
  }

  /** Until C2 has it, then once with the call. */
  static void warmC2Probe() {
    sink = 0;
    for (int i = 0; i < 100_000; i++) {
      c2Probe();
    }
    sink = -1;
    c2Probe();
    sink = 0;
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

  /** Blocked until `stop`, looked at every millisecond. */
  static void interpSleep() throws InterruptedException {
    while (!stop) {
      Thread.sleep(1);
    }
  }
}
