// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Megamorphic calls: through vtables, and through itables of classes with many interfaces. */
final class Interfaces extends Worker {
  private static final int KINDS = 8;

  Interfaces(Context context) {
    super(context);
  }

  interface A {
    long a(long x);
  }

  interface B {
    default long b(long x) {
      return 11 * x;
    }
  }

  interface C extends A, B {
    @Override
    default long a(long x) {
      return 13 * x;
    }
  }

  interface D {
    long d(A[] others, int levels, long x);
  }

  abstract static class Base implements D {
    abstract long v(long x);

    @Override
    public long d(A[] others, int levels, long x) {
      if (levels == 0) return v(x);
      Object next = others[(int) (x + levels) & (KINDS - 1)];
      return ((D) next).d(others, levels - 1, x) + v(1);
    }
  }

  static class K0 extends Base implements A {
    @Override
    public long a(long x) {
      return x;
    }

    @Override
    long v(long x) {
      return x;
    }
  }

  static class K1 extends K0 {
    @Override
    long v(long x) {
      return 2 * x;
    }
  }

  static final class K2 extends K1 implements B {
    @Override
    public long a(long x) {
      return 3 * x;
    }

    @Override
    long v(long x) {
      return super.v(x) + x;
    }
  }

  static final class K3 extends Base implements C {
    @Override
    long v(long x) {
      return 4 * x;
    }
  }

  static final class K4 extends Base implements Runnable, Comparable<K4>, AutoCloseable, B, C {
    @Override
    public void run() {}

    @Override
    public int compareTo(K4 other) {
      return 0;
    }

    @Override
    public void close() {}

    @Override
    public long b(long x) {
      return 5 * x;
    }

    @Override
    long v(long x) {
      return 5 * x;
    }
  }

  static final class K5 implements A, B, D {
    private final long factor;

    K5(long factor) {
      this.factor = factor;
    }

    @Override
    public long a(long x) {
      return factor * x;
    }

    @Override
    public long d(A[] others, int levels, long x) {
      return 6 * x;
    }
  }

  static final class K6 extends K0 implements C {
    @Override
    public long a(long x) {
      return C.super.a(x) + super.a(x);
    }

    @Override
    synchronized long v(long x) {
      return 7 * x;
    }
  }

  static final class K7 extends K1 {
    @Override
    public long a(long x) {
      return 8 * x;
    }
  }

  private static final A[] ALL = {
    new K0(), new K1(), new K2(), new K3(), new K4(), new K5(6), new K6(), new K7()
  };
  private static final long[] A_FACTORS = {1, 1, 3, 13, 13, 6, 14, 8};
  private static final long[] B_FACTORS = {0, 0, 11, 11, 5, 11, 11, 0};
  private static final long[] V_FACTORS = {1, 2, 3, 4, 5, 0, 7, 2};

  @Override
  public void round() {
    long sum = 0;
    long expected = 0;
    for (int i = 0; i < 20_000 * context.scale; i++) {
      int kind = context.random.nextInt(KINDS);
      long x = context.random.nextInt();
      A receiver = ALL[kind];
      sum += receiver.a(x);
      expected += A_FACTORS[kind] * x;
      if (receiver instanceof B) sum += ((B) receiver).b(x);
      expected += B_FACTORS[kind] * x;
      if (receiver instanceof Base) sum += ((Base) receiver).v(x);
      expected += V_FACTORS[kind] * x;
      if (i % 64 == 0) {
        sum += ((D) receiver).d(ALL, 30, x);
        expected += chain(kind, 30, x);
      }
    }
    context.same("the sum of virtual calls", expected, context.planted(sum));
  }

  private static long chain(int first, int levels, long x) {
    long sum = 0;
    int kind = first;
    for (int level = levels; ; level--) {
      if (kind == 5) return sum + 6 * x;
      if (level == 0) return sum + V_FACTORS[kind] * x;
      sum += V_FACTORS[kind];
      kind = (int) (x + level) & (KINDS - 1);
    }
  }
}
