// SPDX-License-Identifier: Apache-2.0
package wh;

/** What the C++ side of the scenes (harness/scenes/scenes.cc) gives to the Java side. */
final class Harness {
  private Harness() {}

  /** Makes the next park() of the scene block; until then park() returns at once. */
  static native void arm();

  /** The scene's known place: once armed, blocks for good if a SceneStage sets the scene up. */
  static native void park();

  /** Says in one sentence why the scene is not available in this JVM. Ignored once parked. */
  static native void unavailable(String reason);

  /**
   * Returns the level of the code now installed for a method: 0 interpreted, 1..3 C1, 4 C2, -1
   * unknown. If osr is true: the highest level of the method's OSR code, 0 if there is none.
   */
  static native int level(Class<?> owner, String name, String signature, boolean osr);

  /**
   * States what kind of code a method runs on the parked stack: "interpreted", "c1", "c2",
   * "c2-inlined", "osr", "deopt", "invalidated", or "frozen": it is a caller behind the return
   * barrier. The kind is checked when the thread parks, so this must be called earlier.
   */
  static native void expect(String kind, Class<?> owner, String name, String signature);

  /** Parks this thread inside its next "monitor-enter" or "monitor-wait" event, with no arm(). */
  static native void parkAtMonitorEvent(String which);

  /** True if this JVM can compile code of that level. */
  static native boolean compilersEnabled(int level);

  /** How many nmethods are zombies now; -1: this JVM keeps none for long enough. */
  static native int zombies();

  /** Bytes between the stack pointer and the guard pages. */
  static native long stackLeft();

  /** Calls JniUpDown.up(depth - 1) through JNI (CallStaticVoidMethod). */
  static native void down(int depth);
}
