// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/**
 * Natives that a native agent may provide; without an agent they do not link.
 *
 * <p>upDown returns what target.call(depth - 1) returns, and leaves a pending exception pending.
 * critical returns the sum of the bytes, as signed values, read by GetPrimitiveArrayCritical.
 */
final class Native {
  private Native() {}

  static native int upDown(Object target, int depth);

  static native long critical(byte[] data);

  /** True if these natives link. */
  static boolean present() {
    try {
      return critical(new byte[] {1, -2}) == -1;
    } catch (UnsatisfiedLinkError e) {
      return false;
    }
  }
}
