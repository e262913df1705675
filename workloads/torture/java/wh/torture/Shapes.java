// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/**
 * Threads with one known stack for life. Thread i has shape i % 3. Its stack holds these methods of
 * class Shapes, from the outermost on:
 *
 * <pre>
 *   shape 0:  work, level1, level2, ... level14, loop
 *   shape 1:  work, level1, level2, ... level14, calls, and at times leaf, which is not inlined
 *   shape 2:  work, level1, level2, ... level14, inlines, and at times inlined, which may be
 * </pre>
 *
 * The first 16 methods of a row are on the stack from the first round to the end of the last one.
 * Before and after, they come and go one by one, so that a stack is always a prefix of its row. A
 * flag keeps leaf from being inlined: see torture.catalogue.
 */
final class Shapes extends Worker {
  private static final int TURNS = 1 << 16;
  private static final long SUM_OF_TURNS = TURNS * (TURNS - 1L) / 2;

  Shapes(Context context) {
    super(context);
  }

  @Override
  public void round() {
    throw new UnsupportedOperationException("work does all rounds");
  }

  @Override
  void work() {
    level1();
  }

  private void level1() {
    level2();
  }

  private void level2() {
    level3();
  }

  private void level3() {
    level4();
  }

  private void level4() {
    level5();
  }

  private void level5() {
    level6();
  }

  private void level6() {
    level7();
  }

  private void level7() {
    level8();
  }

  private void level8() {
    level9();
  }

  private void level9() {
    level10();
  }

  private void level10() {
    level11();
  }

  private void level11() {
    level12();
  }

  private void level12() {
    level13();
  }

  private void level13() {
    level14();
  }

  private void level14() {
    switch (context.thread % 3) {
      case 0:
        loop();
        break;
      case 1:
        calls();
        break;
      default:
        inlines();
    }
  }

  private void loop() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += seed + i;
      context.same("a sum", TURNS * seed + SUM_OF_TURNS, context.planted(sum));
    } while (context.goesOn());
  }

  private void calls() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += leaf(seed, i);
      context.same("a sum of calls", TURNS * seed + SUM_OF_TURNS, context.planted(sum));
    } while (context.goesOn());
  }

  private void inlines() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += inlined(seed, i);
      context.same("a sum of inlined calls", TURNS * seed + SUM_OF_TURNS, context.planted(sum));
    } while (context.goesOn());
  }

  private static long leaf(long seed, int i) {
    return seed + i;
  }

  private static long inlined(long seed, int i) {
    return seed + i;
  }
}
