// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.Method;

/** No scene: a stack for reference_bench, each frame of which has another return address. */
public final class CallSites {
  private static final int METHODS = 40;
  private static final int SITES = 256; // of each method
  private static final int WARM_UPS = 300; // each calls a method 256 times: enough for C2
  private static final long STACK_BYTES = 64L << 20;
  private static final String NAME = "wh/MadeCallSites";

  private static Method first; // null: not made yet
  private static boolean armed;

  private CallSites() {}

  /** Calls walk() with 10,241 frames of 40 compiled methods on the stack, in a thread of its own. */
  static void play() throws Exception {
    if (first == null) first = new Loader().define().getDeclaredMethod("m0", int.class);
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                for (int i = 0; i <= WARM_UPS; i++) {
                  armed = i == WARM_UPS;
                  first.invoke(null, 0);
                }
              } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
              }
            },
            "call-sites",
            STACK_BYTES);
    thread.start();
    thread.join();
  }

  /** The end of the calls. */
  public static void reach() {
    if (armed) walk();
  }

  private static native void walk();

  private static final class Loader extends ClassLoader {
    Loader() {
      super(CallSites.class.getClassLoader());
    }

    Class<?> define() throws IOException {
      byte[] file = new ClassFile().bytes();
      return defineClass(null, file, 0, file.length);
    }
  }

  /**
   * The class has methods static void m0(int t) to m39. Method k: switch (t / 40) { case 0 to 255:
   * call the next method with t + 1; return; default: call reach(); return; }
   */
  private static final class ClassFile {
    private static final int VERSION = 49; // the last without stack maps
    private static final int PUBLIC = 1;
    private static final int STATIC = 8;
    private static final int UTF8 = 1;
    private static final int CLASS = 7;
    private static final int METHOD_REF = 10;
    private static final int NAME_AND_TYPE = 12;
    // Bytes of one case of the switch, and of its table with the opcode.
    private static final int CASE_BYTES = 7;
    private static final int SWITCH_BYTES = 16 + 4 * SITES;

    private final ByteArrayOutputStream pool = new ByteArrayOutputStream();
    private final DataOutputStream constants = new DataOutputStream(pool);
    private int count = 1;

    byte[] bytes() throws IOException {
      int own = type(NAME);
      int object = type("java/lang/Object");
      int code = text("Code");
      int descriptor = text("(I)V");
      int[] names = new int[METHODS];
      int[] references = new int[METHODS];
      for (int k = 0; k < METHODS; k++) {
        names[k] = text("m" + k);
        references[k] = reference(own, names[k], descriptor);
      }
      int reach = reference(type("wh/CallSites"), text("reach"), text("()V"));
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(file);
      out.writeInt(0xcafebabe);
      out.writeInt(VERSION);
      out.writeShort(count);
      pool.writeTo(out);
      for (int word : new int[] {PUBLIC, own, object, 0, 0, METHODS}) out.writeShort(word);
      for (int k = 0; k < METHODS; k++) {
        byte[] body = body(references[(k + 1) % METHODS], reach);
        for (int word : new int[] {PUBLIC | STATIC, names[k], descriptor, 1, code})
          out.writeShort(word);
        out.writeInt(12 + body.length);
        out.writeShort(2); // words of operands
        out.writeShort(1); // locals
        out.writeInt(body.length);
        out.write(body);
        out.writeInt(0); // no handlers, no attributes
      }
      out.writeShort(0);
      return file.toByteArray();
    }

    private static byte[] body(int next, int reach) throws IOException {
      ByteArrayOutputStream code = new ByteArrayOutputStream();
      DataOutputStream out = new DataOutputStream(code);
      out.write(new byte[] {0x1a, 0x10, METHODS, 0x6c}); // iload_0; bipush 40; idiv
      out.write(new byte[] {(byte) 0xaa, 0, 0, 0}); // tableswitch, padded
      out.writeInt(SWITCH_BYTES + CASE_BYTES * SITES);
      out.writeInt(0);
      out.writeInt(SITES - 1);
      for (int i = 0; i < SITES; i++) out.writeInt(SWITCH_BYTES + CASE_BYTES * i);
      for (int i = 0; i < SITES; i++) {
        out.write(new byte[] {0x1a, 0x04, 0x60, (byte) 0xb8}); // iload_0; iconst_1; iadd; invokestatic
        out.writeShort(next);
        out.write(0xb1); // return
      }
      out.write(0xb8);
      out.writeShort(reach);
      out.write(0xb1);
      return code.toByteArray();
    }

    private int text(String s) throws IOException {
      constants.write(UTF8);
      constants.writeUTF(s);
      return count++;
    }

    private int type(String name) throws IOException {
      int text = text(name);
      constants.write(CLASS);
      constants.writeShort(text);
      return count++;
    }

    private int reference(int type, int name, int descriptor) throws IOException {
      constants.write(NAME_AND_TYPE);
      constants.writeShort(name);
      constants.writeShort(descriptor);
      int which = count++;
      constants.write(METHOD_REF);
      constants.writeShort(type);
      constants.writeShort(which);
      return count++;
    }
  }
}
