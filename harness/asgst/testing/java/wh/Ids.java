// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.Serializable;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;

/** Methods and classes with everything that the ids functions report. */
class Ids<T extends Comparable<T> & Serializable> {
  /** An annotation for methods, parameters and types, with a default. */
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.PARAMETER, ElementType.TYPE_USE})
  @interface Mark {
    int value() default 7;
  }

  /** A member class, whose modifiers are in the InnerClasses attribute. */
  protected abstract static class Member {
    protected abstract List<String> nothing();
  }

  private static final class Secret implements Runnable {
    @Override
    public void run() {}
  }

  static Runnable secret() {
    return new Secret();
  }

  /** An object of a hidden class. */
  static Runnable lambda() {
    return () -> Api.sink++;
  }

  @Mark(1)
  <U extends T> List<? super U> annotated(@Mark(3) U first, List<@Mark(4) U> second)
      throws IllegalStateException {
    if (second.isEmpty()) {
      throw new IllegalStateException();
    }
    return null;
  }

  static native void noLines();

  static synchronized int farLines(int n) {
    if (n == 0) {
      return 0;
    }
















































    // 300 bytes of bytecode on one line, so that the steps do not fit into a byte
    int x = n * 3 + 1 + n * 5 + 1000 * n + 2000 * n + 3000 * n + 4000 * n + 5000 * n + 6000 * n + 7000 * n + 8000 * n + 9000 * n + n * n * n * n * n * n * n * n * n * n * n * n;
    for (int i = 0; i < n; i++) {
      x += i;
    }
    return x;
  }
}
