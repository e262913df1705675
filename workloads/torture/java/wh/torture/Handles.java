// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.MutableCallSite;
import java.util.function.LongBinaryOperator;
import java.util.function.LongUnaryOperator;

/** Method handles and their combinators, call sites that change, lambdas, string concatenation. */
final class Handles extends Worker {
  private static final MethodType UNARY = MethodType.methodType(long.class, long.class);
  private static final MethodType BINARY =
      MethodType.methodType(long.class, long.class, long.class);
  private static final MethodHandles.Lookup LOOKUP = MethodHandles.lookup();
  private static final MethodHandle TRIPLE = find("triple", UNARY);
  private static final MethodHandle LESS_SEVEN = find("lessSeven", UNARY);
  private static final MethodHandle IS_ODD =
      find("isOdd", MethodType.methodType(boolean.class, long.class));
  private static final CallSite SITE = new MutableCallSite(TRIPLE);
  private static final MethodHandle SITE_INVOKER = SITE.dynamicInvoker();
  private static final MethodHandle COMBINED =
      MethodHandles.guardWithTest(IS_ODD, TRIPLE, MethodHandles.filterReturnValue(TRIPLE,
          LESS_SEVEN));

  Handles(Context context) {
    super(context);
  }

  private static MethodHandle find(String name, MethodType type) {
    try {
      return LOOKUP.findStatic(Handles.class, name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private static long triple(long x) {
    return x * 3;
  }

  private static long lessSeven(long x) {
    return x - 7;
  }

  private static boolean isOdd(long x) {
    return (x & 1) != 0;
  }

  private static long fail(long x) {
    throw new IllegalArgumentException(Long.toString(x));
  }

  private static long afterFailure(IllegalArgumentException e, long x) {
    return Long.parseLong(e.getMessage()) + x;
  }

  @Override
  public void round() throws Throwable {
    for (int i = 0; i < 300 * context.scale; i++) {
      long x = context.random.nextInt();
      long expected = isOdd(x) ? x * 3 : x * 3 - 7;
      long combined = (long) COMBINED.invokeExact(x);
      context.same("a combined handle", expected, context.planted(combined));
      context.same("a generic invocation", expected, (long) COMBINED.invoke((int) x));
      context.same("a variable", x * 2, Platform.viaVariables(x));
      lambdas(x);
      concatenation(x);
    }
    fresh(context.random.nextInt());
    relink();
  }

  // The lambda forms of fresh handles are interpreted at first.
  private void fresh(long x) throws Throwable {
    MethodHandle bound = MethodHandles.insertArguments(LOOKUP.findStatic(Math.class, "addExact",
        BINARY), 0, x);
    context.same("a bound handle", x + 5, (long) bound.invokeExact(5L));
    MethodHandle spread = bound.asSpreader(Object[].class, 1);
    context.same("a spread call", x + 6, (long) spread.invoke(new Object[] {6L}));
    MethodHandle caught = MethodHandles.catchException(find("fail", UNARY),
        IllegalArgumentException.class, find("afterFailure",
            MethodType.methodType(long.class, IllegalArgumentException.class, long.class)));
    context.same("a catching handle", 2 * x, (long) caught.invokeExact(x));
    MethodHandle repeated = Platform.repeated(9, LESS_SEVEN);
    context.same("a loop of handles", x - 63, (long) repeated.invokeExact(x));
    MethodHandle function = bound;
    for (int i = 0; i < 20; i++) function = MethodHandles.filterReturnValue(function, LESS_SEVEN);
    context.same("a chain of handles", x + 5 - 140, (long) function.invokeExact(5L));
  }

  // Other threads relink the site, too: each answer must be one of the two targets'.
  private void relink() throws Throwable {
    for (int i = 0; i < 200; i++) {
      if (i % 20 == 0) SITE.setTarget(i % 40 == 0 ? LESS_SEVEN : TRIPLE);
      long got = (long) SITE_INVOKER.invokeExact(100L + i);
      context.that(got == 93 + i || got == 3 * (100L + i), "a call site called neither target");
    }
  }

  private void lambdas(long x) {
    LongUnaryOperator plus = y -> y + x;
    LongBinaryOperator both = (a, b) -> plus.andThen(Handles::triple).applyAsLong(a) + b;
    context.same("lambdas", (4 + x) * 3 + 9, both.applyAsLong(4, 9));
  }

  private void concatenation(long x) {
    String text = "x" + x + (char) ('a' + (x & 15)) + 1.5 + isOdd(x) + null + (int) x;
    String expected = new StringBuilder().append('x').append(x).append((char) ('a' + (x & 15)))
        .append(1.5).append(isOdd(x)).append("null").append((int) x).toString();
    context.same("a concatenation", expected, text);
  }
}
