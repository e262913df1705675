// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.IOException;

/** Is loaded by a loader of its own, and unloaded. */
final class Gone {
  private Gone() {}

  static int first() {
    return 1;
  }

  static int second(int x) {
    return x + 1;
  }

  static void call(Runnable body) {
    body.run();
  }

  /** Calls the test from call(). */
  static Runnable probe() {
    return Api::probe;
  }

  /** A loader of this class only. */
  private static final class Loader extends ClassLoader {
    Class<?> define(byte[] bytes) {
      return defineClass("wh.Gone", bytes, 0, bytes.length);
    }
  }

  /** Loads another wh.Gone, and initialises it. */
  static Class<?> load() throws IOException, ClassNotFoundException {
    final Class<?> made = new Loader().define(Changing.bytesOf("Gone"));
    Class.forName(made.getName(), true, made.getClassLoader());
    return made;
  }
}
