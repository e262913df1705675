package wh.torture;

/**
 * Threads with one known stack for life. Thread i has shape i % 3; of the frames of class Shapes,
 * from the outermost on, each sample sees a prefix of
 *
 * <pre>
 *   shape 0:  work, level1, level2, ... level15, loop               (17 frames, no calls in loop)
 *   shape 1:  work, level1, level2, ... level15, calls, leaf        (18 frames, or 17 between)
 *   shape 2:  work, level1, level2, ... level15, inlines, inlined   (likewise; leaf is inlined)
 * </pre>
 *
 * of at least 17 frames once the first round has begun; until the thread's end, when they return.
 * levelN are interpreted or not as the JVM likes: each is called once.
 */
final class Shapes implements Worker {
  private static final int TURNS = 1 << 16;

  private final Context context;
  private final int shape;

  Shapes(Context context) {
    this.context = context;
    shape = context.thread % 3;
  }

  @Override
  public void round() {
    throw new UnsupportedOperationException("work does all rounds");
  }

  @Override
  public void work(Context same) {
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
    level15();
  }

  private void level15() {
    switch (shape) {
      case 0 -> loop();
      case 1 -> calls();
      default -> inlines();
    }
  }

  private void loop() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += seed + i;
      check(seed, sum);
    } while (context.goesOn());
  }

  private void calls() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += leaf(seed, i);
      check(seed, sum);
    } while (context.goesOn());
  }

  private void inlines() {
    do {
      long seed = context.random.nextLong();
      long sum = 0;
      for (int i = 0; i < TURNS; i++) sum += inlined(seed, i);
      check(seed, sum);
    } while (context.goesOn());
  }

  private static long leaf(long seed, int i) {
    return seed + i;
  }

  private static long inlined(long seed, int i) {
    return seed + i;
  }

  private void check(long seed, long sum) {
    long expected = TURNS * seed + TURNS * (TURNS - 1L) / 2;
    context.same("the sum of a loop", expected, context.planted(sum));
  }
}
