// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.List;

/**
 * Stands in for the jar of Renaissance and of DaCapo. Lists some of their programs and one that
 * the catalogues do not know; prints a notice beside the list, as DaCapo does. dotty fails with a
 * long stack trace, pmd by its exit code, and h2 in its second iteration.
 */
public final class Suite {
  static int depth(int n) {
    return n == 0 ? 0 : 1 + depth(n - 1);
  }

  static void fail(int deep) {
    if (deep == 0) {
      throw new IllegalStateException("dotty cannot");
    }
    fail(deep - 1);
  }

  /** Iterates without end, as DaCapo does with a large number of iterations. */
  static void iterate(String name, String size) {
    for (int i = 1; ; i++) {
      long end = System.nanoTime() + 100_000_000L;
      while (System.nanoTime() < end) {
        sink += depth(500);
      }
      boolean failed = name.equals("h2") && i == 2;
      System.out.println("===== DaCapo 9.9 " + name + (failed ? " FAILED warmup " : " completed warmup "
          + i + " in 100 msec on " + size + " ") + "=====");
    }
  }

  static long sink;

  public static void main(String[] arguments) {
    List<String> all = Arrays.asList(arguments);
    if (all.contains("--raw-list") || all.contains("-l")) {
      System.err.println("NOTICE: take care when using it");
      System.out.println("scrabble\ndotty fop h2 pmd stranger");
      return;
    }
    String name = all.get(all.size() - 1);
    if (name.equals("dotty")) {
      fail(60);
    } else if (name.equals("pmd")) {
      System.err.println(name + " cannot");
      System.exit(7);
    } else if (all.contains("-n")) {
      iterate(name, all.get(all.indexOf("-s") + 1));
    }
    // As Renaissance does: it runs for more than 0 seconds.
    int seconds = all.contains("-t") ? Integer.parseInt(all.get(all.indexOf("-t") + 1)) : 1;
    if (seconds <= 0) {
      System.err.println("<seconds> must be greater than 0");
      System.exit(1);
    }
    long end = System.nanoTime() + seconds * 1_000_000_000L;
    long sum = 0;
    while (System.nanoTime() < end) {
      sum += depth(500);
    }
    System.out.println(sum);
  }
}
