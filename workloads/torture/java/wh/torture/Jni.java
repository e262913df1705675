// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.reflect.Method;
import java.security.AccessController;
import java.security.PrivilegedAction;
import java.util.Arrays;
import java.util.zip.Adler32;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Interleaved calls between Java and native code, and critical sections. Uses natives of the JDK:
 * reflection (with the flags in torture.catalogue), initialisers, zip; and the methods of Native,
 * if an agent provides them.
 */
final class Jni extends Worker {
  private static final int MOST_LEVELS = 60;

  private final boolean natives = Native.present();
  private final Method bounce;

  Jni(Context context) throws NoSuchMethodException {
    super(context);
    bounce = Jni.class.getDeclaredMethod("bounce", int.class, long.class);
  }

  @Override
  public void round() throws Exception {
    for (int i = 0; i < 20 * context.scale; i++) {
      int levels = 1 + context.random.nextInt(MOST_LEVELS);
      long x = context.random.nextLong() >>> 8;
      long expected = levels * x;
      context.same("calls by reflection", expected, context.planted(bounce(levels, x)));
      context.same("privileged calls", expected, privileged(levels, x));
      zip(context.random.nextInt(1 << 14));
      if (natives) upDown(levels);
    }
    long x = context.random.nextInt();
    context.same("an initialiser's result", JniGuest.result(x),
        FreshLoader.guest(JniGuest.class).applyAsLong(x));
  }

  private long bounce(int levels, long x) throws ReflectiveOperationException {
    return levels == 0 ? 0 : (long) bounce.invoke(this, levels - 1, x) + x;
  }

  @SuppressWarnings("removal")
  private static long privileged(int levels, long x) {
    if (levels == 0) return 0;
    PrivilegedAction<Long> action = () -> privileged(levels - 1, x);
    return AccessController.doPrivileged(action) + x;
  }

  private void zip(int length) throws DataFormatException {
    byte[] plain = new byte[length];
    context.fill(plain);
    Arrays.fill(plain, 0, length / 2, (byte) 7); // half of it deflates well
    Deflater deflater = new Deflater(1);
    Inflater inflater = new Inflater();
    try {
      byte[] packed = new byte[length + 100];
      deflater.setInput(plain);
      deflater.finish();
      inflater.setInput(packed, 0, deflater.deflate(packed));
      byte[] back = new byte[length];
      context.same("the inflated length", length, inflater.inflate(back));
      context.that(Arrays.equals(plain, back), "deflated data inflates to other data");
      checksums(plain, back);
    } finally {
      deflater.end();
      inflater.end();
    }
  }

  private void checksums(byte[] data, byte[] copy) {
    CRC32 whole = new CRC32();
    CRC32 inParts = new CRC32();
    Adler32 adler = new Adler32();
    whole.update(data);
    int half = data.length / 2;
    inParts.update(copy, 0, half);
    inParts.update(copy, half, copy.length - half);
    adler.update(data);
    context.same("a CRC of parts", whole.getValue(), inParts.getValue());
    context.same("an Adler checksum", adler32(data), adler.getValue());
    if (natives) context.same("a sum in a critical section", sum(data), Native.critical(data));
  }

  private static long adler32(byte[] data) {
    long a = 1;
    long b = 0;
    for (byte each : data) {
      a = (a + (each & 0xff)) % 65521;
      b = (b + a) % 65521;
    }
    return b << 16 | a;
  }

  private static long sum(byte[] data) {
    long sum = 0;
    for (byte each : data) sum += each;
    return sum;
  }

  private void upDown(int levels) {
    context.same("calls through the agent", levels, Native.upDown(new Callee(false), levels));
    try {
      Native.upDown(new Callee(true), levels);
    } catch (IllegalStateException e) {
      return;
    }
    throw new Mismatch("an exception was lost in the agent");
  }

  /** Called back by Native.upDown. */
  private static final class Callee {
    private final boolean throwsAtEnd;

    Callee(boolean throwsAtEnd) {
      this.throwsAtEnd = throwsAtEnd;
    }

    int call(int depth) {
      if (depth > 0) return Native.upDown(this, depth) + 1;
      if (throwsAtEnd) throw new IllegalStateException("planned");
      return 1;
    }
  }
}
