// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ints in native order, outside of the heap, that one thread writes and a native sampler reads.
 * JDK 17 and later load another version of this class.
 */
final class SharedInts {
  final ByteBuffer buffer;

  private final IntBuffer ints;
  private final AtomicInteger fence = new AtomicInteger();

  SharedInts(int count) {
    buffer = ByteBuffer.allocateDirect(4 * count).order(ByteOrder.nativeOrder());
    ints = buffer.asIntBuffer();
  }

  int get(int index) {
    return ints.get(index);
  }

  void set(int index, int value) {
    ints.put(index, value);
  }

  /** Sets a value. A sampler that sees it also sees all values that were set before. */
  void setRelease(int index, int value) {
    fence.lazySet(0); // HotSpot moves no write across lazySet
    ints.put(index, value);
  }
}
