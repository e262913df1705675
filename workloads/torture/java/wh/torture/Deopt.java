// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Deoptimisation storms: assumptions of freshly compiled code are broken, again and again. */
final class Deopt extends Worker {
  Deopt(Context context) {
    super(context);
  }

  @Override
  public void round() throws ReflectiveOperationException {
    for (int i = 0; i < context.scale; i++) {
      long x = context.random.nextInt(1 << 20);
      long actual = FreshLoader.guest(DeoptGuest.class).applyAsLong(x);
      context.same("what deoptimised code computed", expected(x), context.planted(actual));
    }
  }

  /** DeoptGuest's result, computed by code without assumptions that could break. */
  private static long expected(long x) {
    long sum = 0;
    for (int phase = 0; phase < DeoptGuest.PHASES; phase++) {
      for (int i = 0; i < DeoptGuest.CALLS; i++) {
        long at = x + i;
        sum += at * 3; // by a receiver of the only class
        sum += at; // down the usual branch
        sum += 4 * 3 + 2 * at; // by the usual type
      }
      sum += DeoptGuest.LEVELS * (x * 3) + x; // compiled activations, deoptimised at their leaf
      sum += x * (5 + phase); // by a rival
      sum -= x; // down the unusual branch
      sum += 7 + x; // by an unusual type
      sum += 42; // by a trap on null, or on a bound, or on an overflow
    }
    return sum;
  }
}
