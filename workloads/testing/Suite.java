// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.List;

/**
 * Stands in for the jar of Renaissance and of DaCapo. Lists some of their programs and one that
 * the catalogues do not know. dotty and pmd fail.
 */
public final class Suite {
  static int depth(int n) {
    return n == 0 ? 0 : 1 + depth(n - 1);
  }

  public static void main(String[] arguments) {
    List<String> all = Arrays.asList(arguments);
    if (all.contains("--raw-list") || all.contains("-l")) {
      System.out.println("scrabble\ndotty fop pmd stranger");
      return;
    }
    String name = all.get(all.size() - 1);
    if (name.equals("dotty") || name.equals("pmd")) {
      System.err.println(name + " cannot");
      System.exit(7);
    }
    // As the suites do: Renaissance runs for more than 0 seconds, DaCapo some iterations.
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
