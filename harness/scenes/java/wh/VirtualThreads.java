// SPDX-License-Identifier: Apache-2.0
package wh;

import java.lang.reflect.Method;

/** The scenes virtual-*; by reflection, since javac targets JDK 8 and 17. */
final class VirtualThreads {
  private static boolean yields;

  private VirtualThreads() {}

  static Thread start(String name, Runnable body) throws ReflectiveOperationException {
    Method ofVirtual;
    try {
      ofVirtual = Thread.class.getMethod("ofVirtual");
    } catch (NoSuchMethodException e) {
      throw new Unavailable("This JDK has no virtual threads: they came with JDK 21.");
    }
    Object builder;
    try {
      builder = ofVirtual.invoke(null);
    } catch (ReflectiveOperationException e) {
      throw new Unavailable("Virtual threads are a preview feature here, and it is not enabled.");
    }
    Class<?> type = Class.forName("java.lang.Thread$Builder");
    type.getMethod("name", String.class).invoke(builder, name);
    return (Thread) type.getMethod("start", Runnable.class).invoke(builder, body);
  }

  static void playMounted() {
    Tiers.ready(Mounted::interpPass, Mounted.class);
    Mounted.interpPass();
  }

  /** The native frames of jni-up-down pin the thread wherever it would block. */
  static void playPinned() {
    JniUpDown.play();
  }

  /** The callers of Thawed are in the heap. */
  static void playThawed() {
    yields = false;
    Harness.expect("frozen", VirtualThreads.class, "interpFrozen", "()V");
    Tiers.ready(VirtualThreads::interpFrozen, Thawed.class);
    yields = true;
    interpFrozen();
  }

  private static void interpFrozen() {
    Thawed.bestOldest(1, "oldest");
  }

  /**
   * Moves its callers to the heap. As some of them are interpreted, each comes back only when its
   * callee returns.
   */
  static void interpYield() {
    if (!yields) return;
    Thread.yield();
    Harness.arm(); // the stack below has new words
  }

  static final class Mounted {
    private Mounted() {}

    static void interpPass() {
      bestOne(1, "one");
    }

    private static long bestOne(long x, String held) {
      return interpTwo(x + 1, 0.5) + held.length();
    }

    private static long interpTwo(long x, double d) {
      return bestThree(d, new long[] {x}) + x;
    }

    private static long bestThree(double d, long[] held) {
      return bestFour("four", held[0]) + (long) d + held.length;
    }

    private static long bestFour(String held, long x) {
      Harness.park();
      return held.length() + x;
    }
  }

  static final class Thawed {
    private Thawed() {}

    /** The oldest thawed frame. */
    static long bestOldest(long x, String held) {
      interpYield();
      return interpTwo(x + 1, 0.5) + held.length();
    }

    private static long interpTwo(long x, double d) {
      return bestThree(d, "three") + x;
    }

    private static long bestThree(double d, String held) {
      Harness.park();
      return held.length() + (long) d;
    }
  }
}
