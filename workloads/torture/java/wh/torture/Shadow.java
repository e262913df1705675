package wh.torture;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A thread's own account of the instrumented methods on its stack, in memory that a native sampler
 * can read at any instant. Of one thread.
 *
 * <p>Ints in native order: [0] magic, [1] depth, from [2] on the ids, outermost first. An id is
 * written before the depth that includes it. So at every instruction the instrumented methods on
 * the stack are those of the shadow, or those and one more, innermost: one that has begun and not
 * yet entered, or has left and not yet returned.
 */
final class Shadow {
  static final int MAGIC = 0x57485353;
  private static final int INTS = 4 + 4 * 1024;
  private static final int DEPTH = 4; // bytes
  private static final int IDS = 8; // bytes

  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  private final ByteBuffer buffer =
      ByteBuffer.allocateDirect(4 * INTS).order(ByteOrder.nativeOrder());
  private int depth;
  private boolean registered;

  Shadow() {
    buffer.putInt(0, MAGIC);
  }

  /** The first thing that an instrumented method does, outside of the try that leaves. */
  void enter(int id) {
    int inner = depth + 1;
    INT.set(buffer, IDS + 4 * depth, id);
    depth = inner;
    INT.setRelease(buffer, DEPTH, inner);
  }

  /** The last thing that it does, in a finally. */
  void leave() {
    int outer = depth - 1;
    depth = outer;
    INT.setRelease(buffer, DEPTH, outer);
  }

  int depth() {
    return buffer.getInt(DEPTH);
  }

  int id(int index) {
    return buffer.getInt(IDS + 4 * index);
  }

  /** Tells a native agent, if there is one, of this thread's shadow. False without an agent. */
  boolean register() {
    try {
      registered = register0(buffer);
    } catch (UnsatisfiedLinkError e) {
      registered = false;
    }
    return registered;
  }

  /** To be called on the thread that registered. */
  void unregister() {
    if (registered) unregister0();
    registered = false;
  }

  /** Announces which method an id stands for. */
  static void announce(int id, Method method) {
    try {
      method0(id, method);
    } catch (UnsatisfiedLinkError e) {
      // no agent: nobody wants to know
    }
  }

  private static native boolean register0(ByteBuffer buffer);

  private static native void unregister0();

  private static native void method0(int id, Method method);
}
