// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32;
import wh.torture.ShadowTree.Lost;

/** Instrumented leaves: stubs, intrinsics, allocation, contention, then a value or Lost. */
@SuppressWarnings("try") // the resource only marks the stack
final class ShadowWorkLeaves {
  private final ShadowWork work;
  private final Shadow shadow;
  private Object sink;

  ShadowWorkLeaves(ShadowWork work) {
    this.work = work;
    shadow = work.shadow;
  }

  long visit(int choice, long x) throws Lost {
    switch (choice) {
      case 0:
        return copies(x);
      case 1:
        return strings(x);
      case 2:
        return contended(work, x);
      case 3:
        return checksums(x);
      case 4:
        return allocates(x);
      case 5:
        return multiplies(x, Math.sin(x), Math.abs((float) x));
      case 6:
        return traces(x);
      default:
        return clocks(x);
    }
  }

  @Shadowed(33)
  private long copies(long x) throws Lost {
    try (Shadow entered = shadow.enter(33)) {
      long[] from = new long[200];
      Arrays.fill(from, x);
      long[] to = new long[200];
      System.arraycopy(from, 0, to, 1, 199);
      return work.leaf(to[199]);
    }
  }

  @Shadowed(34)
  private long strings(long x) throws Lost {
    try (Shadow entered = shadow.enter(34)) {
      String text = "x" + x;
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      String same = new String(bytes, StandardCharsets.UTF_16LE);
      sink = same.indexOf(text) + same.hashCode();
      return work.leaf(Long.parseLong(text.substring(1)));
    }
  }

  @Shadowed(35)
  private static synchronized long contended(ShadowWork work, long x) throws Lost {
    try (Shadow entered = work.shadow.enter(35)) {
      return work.leaf(x);
    }
  }

  @Shadowed(36)
  private long checksums(long x) throws Lost {
    try (Shadow entered = shadow.enter(36)) {
      CRC32 crc = new CRC32();
      crc.update(new byte[(int) (x >>> 4 & 4095)]);
      return work.leaf(x) + (crc.getValue() >>> 32);
    }
  }

  @Shadowed(37)
  private long allocates(long x) throws Lost {
    try (Shadow entered = shadow.enter(37)) {
      for (int i = 0; i < 8; i++) sink = new Object[(int) (x >>> i & 127)];
      return work.leaf(x);
    }
  }

  @Shadowed(38)
  private long multiplies(long x, double sine, float size) throws Lost {
    try (Shadow entered = shadow.enter(38)) {
      BigInteger big = BigInteger.valueOf(x).pow(9);
      sink = big;
      return work.leaf(x) + (sine > 1 || size < 0 || big.bitLength() > 576 ? 1 : 0);
    }
  }

  @Shadowed(39)
  private long traces(long x) throws Lost {
    try (Shadow entered = shadow.enter(39)) {
      if ((x >>> 20 & 15) == 0) sink = new Throwable().getStackTrace();
      Thread.yield();
      return work.leaf(x);
    }
  }

  @Shadowed(40)
  private long clocks(long x) throws Lost {
    try (Shadow entered = shadow.enter(40)) {
      long start = System.nanoTime();
      for (int i = 0; i < 20; i++) sink = System.nanoTime() - start;
      return work.leaf(x);
    }
  }
}
