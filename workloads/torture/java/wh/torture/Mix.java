// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Hashes that every computation here uses. */
final class Mix {
  private Mix() {}

  /** SplitMix64's finaliser: a bijection. */
  static long mix(long x) {
    long z = x + 0x9e3779b97f4a7c15L;
    z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
    z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
    return z ^ (z >>> 31);
  }

  /** Adds x to a sum that depends on the order of its terms. */
  static long fold(long sum, long x) {
    return Long.rotateLeft(sum, 5) * 31 + x;
  }
}
