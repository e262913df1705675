// SPDX-License-Identifier: Apache-2.0
package wh;

/** jni-up-down: Java calls native code, which calls Java, and so on. */
final class JniUpDown {
  private static final int DEPTH = 6;

  private JniUpDown() {}

  static void play() {
    Tiers.ready(JniUpDown::interpPass, JniUpDown.class);
    interpPass();
  }

  static void interpPass() {
    interpStep(DEPTH, "first");
  }

  /** Called only by Harness.down, through JNI. */
  static void up(int depth) {
    if (depth == 0) Harness.park();
    else if (depth % 2 == 0) interpStep(depth, "even");
    else bestStep(depth, "odd", 3L * depth);
  }

  private static long interpStep(int depth, String held) {
    Harness.down(depth);
    return held.length();
  }

  private static long bestStep(int depth, String held, long mine) {
    Harness.down(depth);
    return held.length() + mine;
  }
}
