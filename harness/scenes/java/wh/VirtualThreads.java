// SPDX-License-Identifier: Apache-2.0
package wh;

import java.lang.reflect.Method;

/** virtual-mounted and virtual-pinned; by reflection, since javac targets JDK 8 and 17. */
final class VirtualThreads {
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
}
