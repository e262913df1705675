// SPDX-License-Identifier: Apache-2.0
package wh;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;

/** lambda-reflection: the frames of every kind of indirect call. */
final class Indirect {
  // More than 15, after which JDK 17 replaces its native Method.invoke by generated code; too few
  // to trigger a compilation.
  private static final int CALLS = 40;

  private final Step lambda;
  private final MethodHandle handle;
  private final Method method;
  private final Step proxy;

  private interface Step {
    long go(long x, String held) throws Throwable;
  }

  private Indirect() throws ReflectiveOperationException {
    Object[] captured = {"captured"};
    lambda = (x, held) -> byHandle(x + captured.length, held) + held.length();
    MethodType type = MethodType.methodType(long.class, long.class, String.class);
    handle = MethodHandles.lookup().findVirtual(Indirect.class, "byMethod", type);
    method = Indirect.class.getDeclaredMethod("byProxy", long.class, String.class);
    InvocationHandler handler = (self, called, args) -> byStream((Long) args[0], (String) args[1]);
    ClassLoader loader = Indirect.class.getClassLoader();
    proxy = (Step) Proxy.newProxyInstance(loader, new Class<?>[] {Step.class}, handler);
  }

  static void play() throws Throwable {
    Indirect indirect = new Indirect();
    for (int i = 0; i < CALLS; i++) indirect.lambda.go(i, "warm");
    Harness.arm();
    indirect.lambda.go(CALLS, "armed");
  }

  private long byHandle(long x, String held) throws Throwable {
    return (long) handle.invokeExact(this, x, held) + held.length();
  }

  private long byMethod(long x, String held) throws Throwable {
    return (Long) method.invoke(this, x, held) + x;
  }

  private long byProxy(long x, String held) throws Throwable {
    return proxy.go(x, held) + x;
  }

  private static long byStream(long x, String held) {
    return Arrays.asList(held, "other").stream()
        .filter(s -> s.length() > 1)
        .mapToLong(s -> s == held ? inStream(x) : x)
        .sum();
  }

  private static long inStream(long x) {
    Harness.park();
    return x;
  }
}
