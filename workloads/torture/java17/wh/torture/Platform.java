// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup.ClassOption;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import java.util.zip.CRC32C;
import java.util.zip.Checksum;

/** Features newer than JDK 8, used directly. */
final class Platform {
  private static final VarHandle CELLS = MethodHandles.arrayElementVarHandle(long[].class);

  private Platform() {}

  /** Defines a class that no loader knows; a strong class is unloaded with its loader. */
  static Class<?> hidden(MethodHandles.Lookup lookup, byte[] file, boolean strong)
      throws ReflectiveOperationException {
    return strong
        ? lookup.defineHiddenClass(file, true, ClassOption.STRONG).lookupClass()
        : lookup.defineHiddenClass(file, true).lookupClass();
  }

  /** Twice x, by way of array elements that a VarHandle writes and reads. */
  static long viaVariables(long x) {
    long[] cells = {x, 0};
    CELLS.setRelease(cells, 1, x);
    return (long) CELLS.getAndAdd(cells, 0, x) + (long) CELLS.getAcquire(cells, 1);
  }

  /** A handle that applies a function of longs {@code times} times. */
  static MethodHandle repeated(int times, MethodHandle function) {
    return MethodHandles.countedLoop(
        MethodHandles.constant(int.class, times),
        MethodHandles.identity(long.class),
        MethodHandles.dropArguments(function, 1, int.class, long.class));
  }

  static Checksum checksum() {
    return new CRC32C();
  }

  /** The first index at which the arrays differ, or -1. Both must have the same length. */
  static int mismatch(byte[] one, byte[] other) {
    return Arrays.mismatch(one, other);
  }

  /** "class.method" of all frames of this thread, innermost first. */
  static List<String> frames() {
    return StackWalker.getInstance().walk(frames ->
        frames.map(frame -> frame.getClassName() + '.' + frame.getMethodName()).toList());
  }
}
