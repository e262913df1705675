// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.function.LongUnaryOperator;

/** Code that gets compiled under assumptions, which then turn out wrong. Always loaded afresh. */
public final class DeoptGuest implements LongUnaryOperator {
  static final int PHASES = 3;
  static final int CALLS = 12_000;
  static final int LEVELS = 12;

  private static int loaded; // number of rivals that this loader has loaded

  public DeoptGuest() {}

  static class Only {
    long weigh(long x) {
      return x * 3;
    }
  }

  /** Only the string in loadRival names the rivals, so no other code loads them. */
  static final class Rival0 extends Only {
    @Override
    long weigh(long x) {
      return x * 5;
    }
  }

  static final class Rival1 extends Only {
    @Override
    long weigh(long x) {
      return x * 6;
    }
  }

  static final class Rival2 extends Only {
    @Override
    long weigh(long x) {
      return x * 7;
    }
  }

  @Override
  public long applyAsLong(long x) {
    Only only = new Only();
    long[] four = new long[4];
    Object[] unusual = {"unusual", new StringBuilder("unusual"), new Object[7]};
    long sum = 0;
    for (int phase = 0; phase < PHASES; phase++) {
      for (int i = 0; i < CALLS; i++) {
        sum += weighed(only, x + i);
        sum += signed(x + i, phase < 0);
        sum += sized("four", x + i) + sized("four", x + i) + 4;
        trapped(four, i & 3, i);
        if (i % 16 == 0) descend(LEVELS, only, x, null);
      }
      Only[] rival = new Only[1];
      sum += descend(LEVELS, only, x, rival) + weighed(rival[0], x);
      sum += signed(x, true);
      sum += sized(unusual[phase], x);
      sum += provoke(phase, four);
    }
    return sum;
  }

  private static long weighed(Only only, long x) {
    return only.weigh(x); // direct or inlined while Only has no subclass that overrides it
  }

  private static long signed(long x, boolean unusual) {
    if (unusual) return -x; // never taken when compiled: an unstable if
    return x;
  }

  private static long sized(Object text, long x) {
    if (text instanceof CharSequence) return ((CharSequence) text).length() + x;
    return ((Object[]) text).length + x;
  }

  private static long trapped(long[] array, int index, int x) {
    array[index] = x;
    return Math.addExact(x, index) + array[index];
  }

  private static long provoke(int phase, long[] four) {
    try {
      if (phase == 0) return trapped(null, 0, 1);
      if (phase == 1) return trapped(four, 4, 1);
      return trapped(four, 3, Integer.MAX_VALUE);
    } catch (NullPointerException | IndexOutOfBoundsException | ArithmeticException e) {
      return 42;
    }
  }

  private static long descend(int level, Only only, long x, Only[] rival) {
    if (level == 0) {
      if (rival != null) rival[0] = loadRival(only);
      return x;
    }
    return descend(level - 1, only, x, rival) + only.weigh(x);
  }

  private static Only loadRival(Only only) {
    String name = only.getClass().getName().replace("Only", "Rival") + loaded++;
    try {
      Class<?> rival = Class.forName(name, true, DeoptGuest.class.getClassLoader());
      return (Only) rival.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }
}
