// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongUnaryOperator;

/** Defines classes of this jar anew, so that no compiler has seen the methods of a loader yet. */
final class FreshLoader extends ClassLoader {
  private static final Map<String, byte[]> FILES = new ConcurrentHashMap<>();

  private final String guest;

  /** Defines the guest and the classes nested in it. */
  FreshLoader(Class<?> guest) {
    super(FreshLoader.class.getClassLoader());
    this.guest = guest.getName();
  }

  static byte[] classFile(String name) {
    return FILES.computeIfAbsent(name, FreshLoader::read).clone();
  }

  private static byte[] read(String name) {
    String path = name.replace('.', '/') + ".class";
    try (InputStream in = FreshLoader.class.getClassLoader().getResourceAsStream(path)) {
      if (in == null) throw new IOException("the jar lacks " + path);
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      byte[] part = new byte[4096];
      for (int read; (read = in.read(part)) > 0; ) file.write(part, 0, read);
      return file.toByteArray();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A new instance of a guest class that a new loader has defined. */
  static LongUnaryOperator guest(Class<?> guest) throws ReflectiveOperationException {
    Class<?> fresh = new FreshLoader(guest).loadClass(guest.getName());
    return (LongUnaryOperator) fresh.getDeclaredConstructor().newInstance();
  }

  private boolean isOwn(String name) {
    return name.equals(guest) || name.startsWith(guest + "$");
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!isOwn(name)) return super.loadClass(name, resolve);
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) return loaded;
      byte[] file = classFile(name);
      return defineClass(name, file, 0, file.length);
    }
  }
}
