// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.instrument.ClassDefinition;
import java.lang.instrument.Instrumentation;
import java.lang.instrument.UnmodifiableClassException;
import java.nio.ByteBuffer;
import java.util.function.LongUnaryOperator;

/** Redefines a class whose methods are active; their old versions live on. */
final class Redefine extends Worker {
  private static final int ROUNDS_A_GUEST = 50;
  private static final byte TAG_INTEGER = 3; // CONSTANT_Integer of the class file

  private final Instrumentation instrumentation = Agent.instrumentation();
  private final byte[] file = FreshLoader.classFile(RedefineGuest.class.getName());
  private final int versionAt = placeOfVersion(file);
  private LongUnaryOperator guest;
  private int version;

  Redefine(Context context) {
    super(context);
  }

  private static int placeOfVersion(byte[] file) {
    ByteBuffer bytes = ByteBuffer.wrap(file);
    for (int at = 1; at + 4 <= file.length; at++) {
      if (file[at - 1] == TAG_INTEGER && bytes.getInt(at) == RedefineGuest.VERSION) return at;
    }
    throw new IllegalStateException("RedefineGuest holds no version");
  }

  @Override
  public void round() throws ReflectiveOperationException {
    if (context.rounds() % ROUNDS_A_GUEST == 0) {
      guest = FreshLoader.guest(RedefineGuest.class);
      version = RedefineGuest.VERSION;
    }
    for (int i = 0; i < context.scale; i++) {
      warm();
      int old = version;
      int levels = 1 + context.random.nextInt(40);
      // Each activation saw the old version twice and called a method of the new one.
      long found = ((ActiveOldVersions) guest).around(levels, this::redefine);
      long expected = levels * (2L * old + version);
      context.same("what active old versions saw", expected, context.planted(found));
    }
  }

  private void warm() {
    for (int i = 0; i < 3000; i++) {
      context.same("the version", version + (long) i, guest.applyAsLong(i));
    }
  }

  private void redefine() {
    version++;
    byte[] changed = file.clone();
    ByteBuffer.wrap(changed).putInt(versionAt, version);
    try {
      instrumentation.redefineClasses(new ClassDefinition(guest.getClass(), changed));
    } catch (ReflectiveOperationException | UnmodifiableClassException e) {
      throw new IllegalStateException(e);
    }
  }
}
