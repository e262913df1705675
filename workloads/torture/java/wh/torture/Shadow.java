// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.reflect.Method;
import java.nio.ByteBuffer;

/**
 * One thread's own record of the instrumented methods on its stack, in memory that a native
 * sampler can read at any instant.
 *
 * <p>Ints in native order: [0] magic, [1] depth, from [2] on the ids, outermost first. An id is
 * written before the depth that includes it. So at every instruction the instrumented methods on
 * the stack are those of the shadow, or those and one more as the innermost: a method that has
 * begun and not yet called enter, or has called close and not yet returned.
 */
final class Shadow implements AutoCloseable {
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

  /** An instrumented method calls this first: its body is the try that closes the result. */
  Shadow enter(int id) {
    int inner = depth + 1;
    ints.set(IDS + depth, id);
    depth = inner;
    ints.setRelease(DEPTH, inner);
    return this;
  }

  /** An instrumented method calls this last. */
  @Override
  public void close() {
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

  /** Registers the shadow of this thread with the native agent. False if there is no agent. */
  boolean register() {
    try {
      registered = register0(ints.buffer);
    } catch (UnsatisfiedLinkError e) {
      registered = false;
    }
    return registered;
  }

  /** Undoes register. To be called on the thread that called register. */
  void unregister() {
    if (registered) unregister0();
    registered = false;
  }

  /** Announces to the native agent, if there is one, which method an id stands for. */
  static void announce(int id, Method method) {
    try {
      method0(id, method);
    } catch (UnsatisfiedLinkError e) {
      // no agent to announce it to
    }
  }

  private static native boolean register0(ByteBuffer buffer);

  private static native void unregister0();

  private static native void method0(int id, Method method);
}
