// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.Checksum;

/**
 * Features newer than JDK 8, by means of JDK 8. JDK 17 and later load another version of this
 * class.
 */
final class Platform {
  private static final MethodHandle GET = MethodHandles.arrayElementGetter(long[].class);
  private static final MethodHandle SET = MethodHandles.arrayElementSetter(long[].class);

  private Platform() {}

  /** Defines a class that no loader knows; it is never strong, whatever {@code strong} says. */
  static Class<?> hidden(MethodHandles.Lookup lookup, byte[] file, boolean strong)
      throws ReflectiveOperationException {
    Field unsafe = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
    unsafe.setAccessible(true);
    Method define = unsafe.getType().getMethod("defineAnonymousClass", Class.class, byte[].class,
        Object[].class); // its classes are never strong
    return (Class<?>) define.invoke(unsafe.get(null), lookup.lookupClass(), file, null);
  }

  /** Twice x, by way of array elements that method handles write and read. */
  static long viaVariables(long x) throws Throwable {
    long[] cells = {x, 0};
    SET.invokeExact(cells, 1, x);
    return (long) GET.invokeExact(cells, 0) + (long) GET.invokeExact(cells, 1);
  }

  /** A handle that applies a function of longs {@code times} times. */
  static MethodHandle repeated(int times, MethodHandle function) {
    MethodHandle all = MethodHandles.identity(long.class);
    for (int i = 0; i < times; i++) all = MethodHandles.filterReturnValue(all, function);
    return all;
  }

  static Checksum checksum() {
    return new CRC32();
  }

  /** The first index at which the arrays differ, or -1. Both must have the same length. */
  static int mismatch(byte[] one, byte[] other) {
    for (int i = 0; i < one.length; i++) {
      if (one[i] != other[i]) return i;
    }
    return -1;
  }

  /** "class.method" of all frames of this thread, innermost first. */
  static List<String> frames() {
    long self = Thread.currentThread().getId();
    ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(self, Integer.MAX_VALUE);
    List<String> frames = new ArrayList<>();
    for (StackTraceElement frame : info.getStackTrace()) {
      frames.add(frame.getClassName() + '.' + frame.getMethodName());
    }
    return frames;
  }
}
