// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/**
 * The call trees of the shadow program, without its methods: a node is depth, fuel and x. The value
 * of a node does not depend on the method that stands for it, so each must compute value().
 */
final class ShadowTree {
  static final int MOST_DEPTH = 200;

  private ShadowTree() {}

  /** Thrown by some leaves, through any number of nodes, up to an edge that catches it (guards). */
  static final class Lost extends Exception {
    private static final long serialVersionUID = 1;
    final long value;

    Lost(long value) {
      super(null, null, false, (value & 1) == 0);
      this.value = value;
    }
  }

  static int kids(int depth, int fuel, long x) {
    if (fuel <= 1 || depth >= MOST_DEPTH) return 0;
    int draw = (int) x & 31;
    return draw == 0 ? 3 : draw < 4 ? 2 : 1;
  }

  /** Fuel for a kid: most of it for the last, so that trees grow deep. */
  static int share(int fuel, int kids, int kid) {
    int side = (fuel - 1) / 16;
    return kid < kids - 1 ? side : fuel - 1 - side * (kids - 1);
  }

  static long kid(long x, int kid) {
    return Mix.mix(x + kid + 1);
  }

  static boolean guards(long x, int kid) {
    return (x >>> 8 & 7) == kid;
  }

  static long leaf(long x) throws Lost {
    if ((x >>> 16 & 7) == 0) throw new Lost(x);
    return x;
  }

  static long value(int depth, int fuel, long x) throws Lost {
    int kids = kids(depth, fuel, x);
    if (kids == 0) return leaf(x);
    long sum = x;
    for (int i = 0; i < kids; i++) {
      try {
        sum = Mix.fold(sum, value(depth + 1, share(fuel, kids, i), kid(x, i)));
      } catch (Lost lost) {
        if (!guards(x, i)) throw lost;
        sum = Mix.fold(sum, lost.value);
      }
    }
    return sum;
  }
}
