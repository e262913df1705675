// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Loops that run long enough to be replaced on the stack, in methods that are new each round. */
final class Osr extends Worker {
  Osr(Context context) {
    super(context);
  }

  @Override
  public void round() throws ReflectiveOperationException {
    long turns = 150_000L * context.scale + context.random.nextInt(1000);
    // 0 + 1 + ... + (turns - 1), by each of the loops.
    long expected = OsrGuest.LOOPS * (turns * (turns - 1) / 2);
    long actual = FreshLoader.guest(OsrGuest.class).applyAsLong(turns);
    context.same("the sum of loops replaced on the stack", expected, context.planted(actual));
  }
}
