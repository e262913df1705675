// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;

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
  private static final int DEPTH = 1;
  private static final int IDS = 2;

  private final SharedInts ints = new SharedInts(INTS);
  private int depth;
  private boolean registered;

  Shadow() {
    ints.set(0, MAGIC);
  }

  /** The first thing that an instrumented method does, outside of the try that leaves. */
  void enter(int id) {
    int inner = depth + 1;
    ints.set(IDS + depth, id);
    depth = inner;
    ints.setRelease(DEPTH, inner);
  }

  /** The last thing that it does, in a finally. */
  void leave() {
    int outer = depth - 1;
    depth = outer;
    ints.setRelease(DEPTH, outer);
  }

  int depth() {
    return ints.get(DEPTH);
  }

  int id(int index) {
    return ints.get(IDS + index);
  }

  /** Tells a native agent, if there is one, of this thread's shadow. False without an agent. */
  boolean register() {
    try {
      registered = register0(ints.buffer);
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
