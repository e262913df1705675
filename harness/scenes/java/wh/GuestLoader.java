// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** class-loader: a class that this loader defines, and loadClass, called by the VM for another. */
final class GuestLoader extends ClassLoader {
  private static final String GUEST = "wh.Guest";
  private static final String FRIEND = "wh.GuestFriend";

  private GuestLoader() {
    super(GuestLoader.class.getClassLoader());
  }

  static void play() throws ReflectiveOperationException {
    Class<?> guest = new GuestLoader().loadClass(GUEST);
    Object visitor = guest.getDeclaredConstructor().newInstance();
    Harness.arm();
    ((Runnable) visitor).run();
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!name.equals(GUEST) && !name.equals(FRIEND)) return super.loadClass(name, resolve);
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) return loaded;
      if (name.equals(FRIEND)) Harness.park();
      try {
        byte[] bytes = fileOf(name);
        return defineClass(name, bytes, 0, bytes.length);
      } catch (IOException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
  }

  /** Returns the bytes of the class file of one of our classes. */
  static byte[] fileOf(String name) throws IOException {
    String path = name.replace('.', '/') + ".class";
    try (InputStream in = GuestLoader.class.getClassLoader().getResourceAsStream(path)) {
      if (in == null) throw new IOException("the jar lacks " + path);
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      for (int next = in.read(); next >= 0; next = in.read()) file.write(next);
      return file.toByteArray();
    }
  }
}
