package wh;

import java.io.IOException;
import java.io.InputStream;

/** class-loader: a class of this loader, and loadClass called by the VM to resolve another. */
final class GuestLoader extends ClassLoader {
  private static final String GUEST = "wh.Guest";
  private static final String FRIEND = "wh.GuestFriend";

  private GuestLoader() {
    super("guest", GuestLoader.class.getClassLoader());
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
      byte[] bytes = classFile(name);
      return defineClass(name, bytes, 0, bytes.length);
    }
  }

  private byte[] classFile(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    try (InputStream in = getParent().getResourceAsStream(file)) {
      if (in == null) throw new ClassNotFoundException(name);
      return in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }
}
