// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.IOException;

/** Lives in a loader of its own, and is unloaded. */
final class Gone {
  private Gone() {}

  static int first() {
    return 1;
  }

  static int second(int x) {
    return x + 1;
  }

  /** A loader of nothing else. */
  private static final class Loader extends ClassLoader {
    Class<?> define(byte[] bytes) {
      return defineClass("wh.Gone", bytes, 0, bytes.length);
    }
  }

  /** Another wh.Gone, prepared. */
  static Class<?> load() throws IOException, ClassNotFoundException {
    final Class<?> made = new Loader().define(Changing.bytesOf("Gone"));
    Class.forName(made.getName(), true, made.getClassLoader());
    return made;
  }
}
