// SPDX-License-Identifier: Apache-2.0
package wh;

/** exception-finally and exception-construct. */
final class Exceptions {
  private Exceptions() {}

  static void playFinally() {
    Tiers.warm(Finally::interpPass, Finally.class, Thrower.class);
    Tiers.expect(Finally.class); // the Thrower's frames are gone when the finally block runs
    Harness.arm();
    Finally.interpPass();
  }

  static void playConstruct() {
    Tiers.ready(() -> Construct.interpPass(true), Construct.class);
    Construct.interpPass(false);
  }

  private static final class Signal extends Exception {
    private static final long serialVersionUID = 1;

    Signal() {
      super(null, null, false, false);
    }
  }

  /** The frames that are on the stack when the finally block runs. */
  static final class Finally {
    private Finally() {}

    static void interpPass() {
      try {
        bestOuter("outer", 3);
      } catch (Signal expected) {
        // The exception has done its work.
      }
    }

    private static long bestOuter(String held, long x) throws Signal {
      return interpMiddle(x + 1, held) + held.length() + x;
    }

    private static long interpMiddle(long x, String held) throws Signal {
      try {
        return bestFinally(x * 3, held, 0.5);
      } finally {
        if (held == null) Harness.park(); // the exception is yet to reach this finally block
      }
    }

    private static long bestFinally(long x, String held, double d) throws Signal {
      long mine = x + held.length();
      try {
        mine += Thrower.bestOne(x, held);
      } finally {
        mine += bestInFinally(mine, d);
      }
      return mine;
    }

    private static long bestInFinally(long x, double d) {
      Harness.park();
      return x + (long) d;
    }
  }

  /** The frames that the exception unwinds. */
  static final class Thrower {
    private Thrower() {}

    private static long bestOne(long x, String held) throws Signal {
      return interpTwo(x + 1) + held.length();
    }

    private static long interpTwo(long x) throws Signal {
      return bestThree(x, new Object[] {x}) + x;
    }

    private static long bestThree(long x, Object[] held) throws Signal {
      return interpFour() + held.length + x;
    }

    private static long interpFour() throws Signal {
      throw new Signal();
    }
  }

  static final class Construct {
    // The JDK's constructors must not get warm, so that they are interpreted in each run.
    private static final Signal WARM = new Signal();

    private Construct() {}

    static void interpPass(boolean warm) {
      bestOuter(warm, 1, "outer");
    }

    private static long bestOuter(boolean warm, long x, String held) {
      return interpMiddle(held, x + 1, warm) + held.length();
    }

    private static long interpMiddle(String held, long x, boolean warm) {
      try {
        return bestThrow(x, held, warm);
      } catch (Exception expected) {
        return x;
      }
    }

    private static long bestThrow(long x, String held, boolean warm) throws Exception {
      throw interpMake(held, x, warm);
    }

    private static Exception interpMake(String held, long x, boolean warm) {
      return warm ? WARM : new Parking(held + x);
    }
  }
  private static final class Parking extends Exception {
    private static final long serialVersionUID = 1;

    Parking(String message) {
      super(message);
    }

    @Override
    public Throwable fillInStackTrace() {
      Harness.park();
      return super.fillInStackTrace();
    }
  }
}
