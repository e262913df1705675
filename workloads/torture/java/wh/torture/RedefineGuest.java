// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.function.LongUnaryOperator;

/** Redefine changes the one constant VERSION, which javac copies to where it is used. */
public final class RedefineGuest implements LongUnaryOperator, ActiveOldVersions {
  static final int VERSION = 0x57480001;

  public RedefineGuest() {}

  @Override
  public long applyAsLong(long x) {
    int version = VERSION; // as an int: javac would make another constant of a long
    return version + x;
  }

  /** Runs what redefines this class at the innermost of its levels. */
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
