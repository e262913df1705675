// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.function.LongUnaryOperator;

/** Each method is called once and adds up 0 to turns - 1 in a loop of its own shape. */
public final class OsrGuest implements LongUnaryOperator {
  static final int LOOPS = 8;

  private long field;

  public OsrGuest() {}

  @Override
  public long applyAsLong(long turns) {
    return counted((int) turns)
        + byLong(turns)
        + nested(turns)
        + throughField(turns)
        + inMonitor(turns)
        + withObjects(turns)
        + withCatch(turns)
        + real(turns);
  }

  private static long counted(int turns) {
    long sum = 0;
    for (int i = 0; i < turns; i++) sum += i;
    return sum;
  }

  private static long byLong(long turns) {
    long sum = 0;
    for (long i = turns - 1; i >= 0; i--) sum += i;
    return sum;
  }

  private static long nested(long turns) {
    long sum = 0;
    long i = 0;
    while (i < turns) {
      for (int j = 0; j < 1000 && i < turns; j++) sum += i++;
    }
    return sum;
  }

  private long throughField(long turns) {
    field = 0;
    for (long i = 0; i < turns; i++) add(i);
    return field;
  }

  private void add(long x) {
    field += x;
  }

  private synchronized long inMonitor(long turns) {
    long sum = 0;
    Object lock = new Object();
    for (long i = 0; i < turns; i++) {
      synchronized (lock) {
        sum += i;
      }
    }
    return sum;
  }

  private static long withObjects(long turns) {
    Long boxed = 0L;
    for (long i = 0; i < turns; i++) boxed = boxed + i;
    return boxed;
  }

  private static long withCatch(long turns) {
    long sum = 0;
    int[] one = new int[1];
    for (long i = 0; i < turns; i++) {
      try {
        sum += i + one[(i & 1023) == 1023 ? 1 : 0];
      } catch (IndexOutOfBoundsException e) {
        sum += i;
      }
    }
    return sum;
  }

  private static long real(long turns) {
    double sum = 0;
    float one = 1;
    for (double x = 0; x < turns; x += one) sum += x;
    return (long) sum; // exact below 2^53
  }
}
