// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Ints in native order, outside of the heap, that one thread writes and a native sampler reads. */
final class SharedInts {
  private static final VarHandle INT =
      MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.nativeOrder());

  final ByteBuffer buffer;

  SharedInts(int count) {
    buffer = ByteBuffer.allocateDirect(4 * count).order(ByteOrder.nativeOrder());
  }

  int get(int index) {
    return buffer.getInt(4 * index);
  }

  void set(int index, int value) {
    INT.set(buffer, 4 * index, value);
  }

  /** Sets a value. A sampler that sees it also sees all values that were set before. */
  void setRelease(int index, int value) {
    INT.setRelease(buffer, 4 * index, value);
  }
}
