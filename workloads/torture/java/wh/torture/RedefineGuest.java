// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.function.LongUnaryOperator;

/** Redefine changes the constant of VERSION in the class file; each use of VERSION loads it. */
public final class RedefineGuest implements LongUnaryOperator, ActiveOldVersions {
  static final int VERSION = 0x57480001;

  public RedefineGuest() {}

  @Override
  public long applyAsLong(long x) {
    int version = VERSION; // an int: for a long javac would make another constant
    return version + x;
  }

  /** Calls itself for each level; the innermost runs what redefines this class. */
  @Override
  public long around(int levels, Runnable redefinition) {
    int before = VERSION;
    long below = 0;
    if (levels > 1) {
      below = around(levels - 1, redefinition);
    } else {
      redefinition.run();
    }
    int after = VERSION;
    return below + before + after + applyAsLong(0);
  }
}
