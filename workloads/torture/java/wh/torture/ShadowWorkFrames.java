// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import wh.torture.ShadowTree.Lost;

/** Instrumented methods with frames of many shapes, which call each other by way of ShadowWork. */
@SuppressWarnings("try") // the resource only marks the stack
final class ShadowWorkFrames {
  private final ShadowWork work;
  private final Shadow shadow;
  private long sink;

  ShadowWorkFrames(ShadowWork work) {
    this.work = work;
    shadow = work.shadow;
  }

  long visit(int choice, int depth, int fuel, long x) throws Lost {
    switch (choice) {
      case 0:
        return longs((long) depth << 32 | fuel, x);
      case 1:
        return doubles(depth, fuel, (int) x, (double) (x >>> 32));
      case 2:
        return floats(depth, x, fuel);
      case 3:
        return manyArguments(1, depth, 2L, fuel, 3.0, 4, (short) 5, (byte) 6, 'c', x, 7f, true);
      case 4:
        return boxed(depth, fuel, x);
      case 5:
        return varied(depth, fuel, x, x);
      case 6:
        return loops(depth, fuel, x);
      case 7:
        return loopsBefore(depth, fuel, x);
      case 8:
        return hoards(depth, fuel, x);
      case 9:
        return replaced(depth, fuel, x);
      case 10:
        return manyLocals(depth, fuel, x);
      case 11:
        return catches(depth, fuel, x);
      case 12:
        return switches(depth, fuel, x);
      default:
        return plain(depth, fuel, x);
    }
  }

  @Shadowed(0)
  private long plain(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(0)) {
      return work.kids(depth, fuel, x);
    }
  }

  @Shadowed(1)
  private long longs(long depthAndFuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(1)) {
      return work.kids((int) (depthAndFuel >>> 32), (int) depthAndFuel, x);
    }
  }

  @Shadowed(2)
  private long doubles(double depth, double fuel, int low, double high) throws Lost {
    try (Shadow entered = shadow.enter(2)) {
      return work.kids((int) depth, (int) fuel, (long) high << 32 | low & 0xffffffffL);
    }
  }

  @Shadowed(3)
  private long floats(float depth, long x, float fuel) throws Lost {
    try (Shadow entered = shadow.enter(3)) {
      float sum = depth + fuel; // both are small enough to be exact
      long value = work.kids((int) depth, (int) fuel, x);
      return value + (long) (sum - depth - fuel);
    }
  }

  @Shadowed(4)
  private long manyArguments(int a, int depth, long b, int fuel, double c, int d, short e, byte f,
      char g, long x, float h, boolean i) throws Lost {
    try (Shadow entered = shadow.enter(4)) {
      long value = work.kids(depth, fuel, x);
      long none = a + b + (long) c + d + e + f + g - 'c' + (long) h - (i ? 28 : 0);
      return value + none;
    }
  }

  @Shadowed(5)
  private Long boxed(Integer depth, Integer fuel, Long x) throws Lost {
    try (Shadow entered = shadow.enter(5)) {
      return work.kids(depth, fuel, x);
    }
  }

  @Shadowed(6)
  private long varied(int depth, int fuel, long... x) throws Lost {
    try (Shadow entered = shadow.enter(6)) {
      return work.kids(depth, fuel, x[0]) + x[0] - x[x.length - 1];
    }
  }

  // Calls the kids in a loop of its own, which is long now and then, for OSR.
  @Shadowed(7)
  private long loops(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(7)) {
      int kids = ShadowTree.kids(depth, fuel, x);
      long sum = x;
      int stride = (x >>> 24 & 15) == 0 ? 3000 : 1;
      for (int i = 0; i < kids * stride; i++) {
        if (i % stride == 0) sum = Mix.fold(sum, work.kid(i / stride, depth, fuel, x));
        sink += i;
      }
      return sum;
    }
  }

  @Shadowed(8)
  private long loopsBefore(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(8)) {
      long own = 0;
      for (int i = 0; i < 500; i++) own += i ^ x;
      long value = work.kids(depth, fuel, x);
      for (int i = 0; i < 500; i++) own -= i ^ x;
      return value + own;
    }
  }

  @Shadowed(9)
  private long hoards(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(9)) {
      byte[][] hoard = new byte[4][];
      for (int i = 0; i < hoard.length; i++) hoard[i] = new byte[(int) (x >>> i & 255) + 1];
      long value = work.kids(depth, fuel, x);
      return value + hoard.length + hoard[3][0] - 4;
    }
  }

  private static final class Pair {
    private final long left;
    private final Object right;

    Pair(long left, Object right) {
      this.left = left;
      this.right = right;
    }

    long left() {
      return left;
    }

    Object right() {
      return right;
    }
  }

  // The pair never escapes: debug information has to describe it.
  @Shadowed(10)
  private long replaced(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(10)) {
      Pair pair = new Pair(x + depth, "text");
      long value = work.kids(depth, fuel, x);
      return value + pair.left() - x - depth + ((String) pair.right()).length() - 4;
    }
  }

  @Shadowed(11)
  private long manyLocals(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(11)) {
      long a = sink, b = a * 3, c = b ^ x, d = c * 5, e = d ^ a, f = e * 7, g = f ^ b, h = g * 11;
      double i = a, j = i * 0.5, k = j + b, l = k * 0.25;
      Object m = "m", n = m, o = n;
      long value = work.kids(depth, fuel, x);
      sink = a + b + c + d + e + f + g + h + (long) (i + j + k + l);
      return m == o ? value : value + 1;
    }
  }

  // Catches exceptions of its kids and throws them again.
  @Shadowed(12)
  private long catches(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(12)) {
      try {
        return work.kids(depth, fuel, x);
      } catch (Lost lost) {
        if (lost.value == x) return x + 1; // no node throws what another holds
        throw lost;
      } finally {
        sink++;
      }
    }
  }

  @Shadowed(13)
  private long switches(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(13)) {
      String name = (x & 16) == 0 ? "kids" : "own";
      switch (name) {
        case "kids":
          return work.kids(depth, fuel, x);
        case "own":
          return work.kids(1, Mix.fold(x, work.kid(0, depth, fuel, x)), depth, fuel, x);
        default:
          return 0;
      }
    }
  }
}
