// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.function.LongUnaryOperator;

/** Initialisers that the VM calls while it resolves a class, nested. Always loaded afresh. */
public final class JniGuest implements LongUnaryOperator {
  public JniGuest() {}

  static long result(long x) {
    return 3 * x + 6;
  }

  @Override
  public long applyAsLong(long x) {
    return First.held + Second.held + Third.held + 3 * x;
  }

  static final class First {
    static final long held = Second.held + Long.parseLong("1");
  }

  static final class Second {
    static final long held = Third.held + Long.parseLong("1");
  }

  static final class Third {
    static final long held = Long.parseLong("1");
  }
}
