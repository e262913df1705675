// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandles;
import java.util.function.LongUnaryOperator;

/** A class that is loaded, used and dropped by the thousand, hidden or not. */
public final class ClassGuest implements LongUnaryOperator, HostsHidden {
  private static final long FACTOR = Long.parseLong("3"); // so there is an initialiser

  public ClassGuest() {}

  static long result(long x) {
    return x * 3 + 7;
  }

  @Override
  public long applyAsLong(long x) {
    return 7 + x * FACTOR;
  }

  @Override
  public MethodHandles.Lookup lookup() {
    return MethodHandles.lookup();
  }
}
