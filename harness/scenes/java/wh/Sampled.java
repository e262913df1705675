// SPDX-License-Identifier: Apache-2.0
package wh;

/** sampled: a wide native frame, whose words a snapshot may replace, between Java frames. */
final class Sampled {
  private Sampled() {}

  static void play() {
    Tiers.ready(Sampled::interpPass, Sampled.class);
    interpPass();
  }

  static void interpPass() {
    bestDown("held", 7);
  }

  private static long bestDown(String held, long mine) {
    room();
    return held.length() + mine;
  }

  /** Calls interpUp through JNI, from a native frame with much room. */
  private static native void room();

  /** Called only by room, through JNI. */
  static void interpUp() {
    Harness.park();
  }
}
