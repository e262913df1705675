// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * deoptimized: three activations of code that assumes that Only has no subclass. Loading Rival from
 * the leaf invalidates that code, so HotSpot sets the activations' return addresses to the
 * deoptimisation handlers. An activation keeps the handler's address until control returns to it.
 */
final class Deoptimized {
  private static boolean loadRival;

  private Deoptimized() {}

  static void play() {
    if (Tiers.best().equals("interpreted")) {
      throw new Unavailable("No compiler is on in this JVM, so there is nothing to deoptimise.");
    }
    Tiers.warm(Deoptimized::interpPass, Deoptimized.class);
    Tiers.expectAll("deopt", Deoptimized.class);
    loadRival = true;
    Harness.arm();
    interpPass();
  }

  static void interpPass() {
    bestOuter(new Only(), 5, "outer");
  }

  private static long bestOuter(Only only, long x, String held) {
    long mine = only.weigh(x);
    return bestMiddle(only, mine, 0.5) + mine + held.length();
  }

  private static long bestMiddle(Only only, long x, double d) {
    Only replaced = new Only(); // scalar-replaced, so deoptimisation must allocate it
    replaced.bias = only.weigh(x + 1);
    return interpBetween(only, x) + replaced.bias + (long) d;
  }

  private static long interpBetween(Only only, long x) {
    return bestInner(x, only, new long[] {x}) + x;
  }

  private static long bestInner(long x, Only only, long[] held) {
    long mine = only.weigh(x - 1);
    return interpLeaf(x) + mine + held[0];
  }

  private static long interpLeaf(long x) {
    if (loadRival) {
      try {
        Class.forName("wh.Deoptimized$Rival");
      } catch (ClassNotFoundException e) {
        throw new Unavailable("The class wh.Deoptimized$Rival is missing from the jar.");
      }
    }
    Harness.park();
    return x;
  }

  static class Only {
    long bias = 1;

    long weigh(long x) {
      return x * 3 + bias;
    }
  }

  /** Only the string in interpLeaf names this class, so nothing else loads it. */
  static final class Rival extends Only {
    @Override
    long weigh(long x) {
      return x;
    }
  }
}
