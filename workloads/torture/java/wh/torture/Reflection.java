// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.LongUnaryOperator;

/** Methods, constructors, fields, arrays and proxies by reflection, looked up anew each round. */
final class Reflection extends Worker {
  Reflection(Context context) {
    super(context);
  }

  private static final class Subject {
    static long total;
    long held;
    private final String name;

    Subject(long held, String name) {
      this.held = held;
      this.name = name;
    }

    long sum(int a, long b, double c, String d, Object[] e) {
      return a + b + (long) c + d.length() + e.length + held;
    }

    static long nested(Method self, int levels, long x) throws ReflectiveOperationException {
      if (levels == 0) throw new IllegalStateException(Long.toString(x));
      return (long) self.invoke(null, self, levels - 1, x + 1);
    }
  }

  @Override
  public void round() throws Exception {
    // Looked up anew each round, so that new accessors are made.
    Constructor<Subject> maker = Subject.class.getDeclaredConstructor(long.class, String.class);
    Method sum = Subject.class.getDeclaredMethod("sum", int.class, long.class, double.class,
        String.class, Object[].class);
    Field held = Subject.class.getDeclaredField("held");
    for (int i = 0; i < 100 * context.scale; i++) {
      long x = context.random.nextInt();
      Subject subject = maker.newInstance(x, "subject");
      held.setLong(subject, held.getLong(subject) + 1);
      long got = (long) sum.invoke(subject, i, x, 2.5, "text", new Object[3]);
      context.same("a reflective call", i + x + 2 + 4 + 3 + x + 1, context.planted(got));
      context.same("a field", "subject", subject.name);
    }
    // The static field is shared between threads, so all write the same value.
    Field total = Subject.class.getDeclaredField("total");
    total.set(null, 5L);
    context.same("a static field", 5, total.getLong(null));
    exceptions(1 + context.random.nextInt(30));
    proxy(context.random.nextInt());
    arrays();
  }

  private void exceptions(int levels) throws ReflectiveOperationException {
    Method nested = Subject.class.getDeclaredMethod("nested", Method.class, int.class, long.class);
    int wrappers = 0;
    try {
      nested.invoke(null, nested, levels, 0L);
      throw new Mismatch("a reflective exception was lost");
    } catch (InvocationTargetException e) {
      Throwable cause = e;
      for (; cause instanceof InvocationTargetException; cause = cause.getCause()) wrappers++;
      context.same("the cause's message", Integer.toString(levels), cause.getMessage());
    }
    context.same("reflective wrappers", levels + 1, wrappers);
  }

  private void proxy(long x) {
    LongUnaryOperator proxy = (LongUnaryOperator) Proxy.newProxyInstance(
        Reflection.class.getClassLoader(), new Class<?>[] {LongUnaryOperator.class},
        (self, method, arguments) -> method.getName().equals("applyAsLong")
            ? (long) arguments[0] * 3
            : null);
    for (int i = 0; i < 50; i++) {
      context.same("a proxy's answer", (x + i) * 3, proxy.applyAsLong(x + i));
    }
  }

  private void arrays() {
    Object array = Array.newInstance(int.class, 3, 4);
    Array.setInt(Array.get(array, 2), 3, 7);
    context.same("an array's element", 7, ((int[][]) array)[2][3]);
  }
}
