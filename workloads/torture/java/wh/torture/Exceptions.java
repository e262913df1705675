// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Exceptions through many frames: caught far up, rethrown, wrapped, implicit, without trace. */
final class Exceptions extends Worker {
  private static final int MOST_LEVELS = 300; // less than the 1024 frames of a stack trace

  private static final String[] IMPLICIT = {
    "NullPointerException",
    "ArrayIndexOutOfBoundsException",
    "ArithmeticException",
    "ClassCastException",
    "NegativeArraySizeException",
    "ArrayStoreException",
    "none",
    "none"
  };

  private final Lost untraced = new Lost(0, false);
  private long unwound;

  static final class Lost extends Exception {
    private static final long serialVersionUID = 1;
    final long value;

    Lost(long value, boolean traced) {
      super(null, null, false, traced);
      this.value = value;
    }
  }

  Exceptions(Context context) {
    super(context);
  }

  @Override
  public void round() {
    for (int i = 0; i < 200 * context.scale; i++) {
      int levels = 1 + context.random.nextInt(MOST_LEVELS);
      unwound = 0;
      throwThrough(levels, context.random.nextLong());
      context.same("the number of frames unwound", levels, context.planted(unwound));
      implicit(i, levels);
    }
  }

  private void throwThrough(int levels, long x) {
    boolean traced = (x & 7) == 0;
    try {
      descend(levels, x, traced);
    } catch (Lost lost) {
      context.same("what an exception carried", traced ? x : 0, lost.value);
      if (traced) context.same("frames in a stack trace", levels, framesOf(lost));
      return;
    }
    throw new Mismatch("an exception was lost");
  }

  private long descend(int level, long x, boolean traced) throws Lost {
    if (level == 0) throw traced ? new Lost(x, true) : untraced;
    try {
      switch (level & 3) {
        case 0:
          return rethrow(level - 1, x, traced);
        case 1:
          return catchOthers(level - 1, x, traced);
        default:
          return descend(level - 1, x, traced) + level;
      }
    } finally {
      unwound++;
    }
  }

  private long rethrow(int level, long x, boolean traced) throws Lost {
    try {
      return descend(level, x, traced) + 1;
    } catch (Lost lost) {
      throw lost;
    }
  }

  private synchronized long catchOthers(int level, long x, boolean traced) throws Lost {
    try {
      return descend(level, x, traced) + 1;
    } catch (IllegalStateException | ArithmeticException other) {
      throw new Mismatch("an exception was taken for another: " + other);
    }
  }

  private static long framesOf(Lost lost) {
    long count = 0;
    for (StackTraceElement frame : lost.getStackTrace()) {
      if (frame.getMethodName().equals("descend")) count++;
    }
    return count - 1; // without the call that threw
  }

  // Exceptions that the VM itself throws, from compiled code through stubs and traps.
  private void implicit(int kind, int levels) {
    String got = "none";
    long value = 0;
    try {
      value = provoke(kind & 7, levels & 31, new int[4]);
    } catch (RuntimeException e) {
      got = e.getClass().getSimpleName();
    }
    context.same("the implicit exception", IMPLICIT[kind & 7], got);
    if (got.equals("none")) context.same("a plain return", 4 + (levels & 31), value);
  }

  private static long provoke(int kind, int level, int[] four) {
    if (level > 0) return provoke(kind, level - 1, four) + 1;
    Object text = "text";
    switch (kind) {
      case 0:
        return lengthOf(four.length == 4 ? null : four);
      case 1:
        return four[four.length];
      case 2:
        return four.length / four[0];
      case 3:
        return (Integer) text;
      case 4:
        return new byte[-four.length].length;
      case 5:
        return store(new Integer[1], text);
      default:
        return four.length;
    }
  }

  private static int lengthOf(int[] array) {
    return array.length;
  }

  private static long store(Object[] array, Object value) {
    array[0] = value;
    return array.length;
  }
}
