// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.concurrent.locks.LockSupport;
import java.util.function.LongUnaryOperator;

/** Its initialiser, which the VM calls, blocks. Always loaded afresh. */
public final class PinningGuest implements LongUnaryOperator {
  static {
    LockSupport.parkNanos(300_000);
    Thread.yield();
  }

  public PinningGuest() {}

  @Override
  public long applyAsLong(long x) {
    return x;
  }
}
