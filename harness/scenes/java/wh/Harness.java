// SPDX-License-Identifier: Apache-2.0
package wh;

/** What the C++ side of the scenes (harness/scenes/scenes.cc) gives to the Java side. */
final class Harness {
  private Harness() {}

  /** Makes the next park() of this thread block; until then park() returns at once. */
  static native void arm();

  /** The scene's known place: once armed, blocks until the scene is released. */
  static native void park();

  /** The scene cannot be had in this JVM; the reason is one clear sentence. Ignored once parked. */
  static native void unavailable(String reason);

  /**
   * The level of the code now installed for a method: 0 interpreted, 1..3 C1, 4 C2, -1 unknown; or
   * the highest level of its OSR code, 0 if it has none.
   */
  static native int level(Class<?> owner, String name, String signature, boolean osr);

  /**
   * Says what must hold of a method on the parked stack: "interpreted", "c1", "c2", "c2-inlined",
   * "osr" or "deopt". To be called while the code meant is
   * installed; checked when the thread parks.
   */
  static native void expect(String kind, Class<?> owner, String name, String signature);

  /** Parks this thread inside its next "monitor-enter" or "monitor-wait" event, with no arm(). */
  static native void parkAtMonitorEvent(String which);

  /** Whether code of that level can be had in this JVM. */
  static native boolean compilersEnabled(int level);

  /** How many nmethods are zombies now; -1: this JVM keeps none for long enough. */
  static native int zombies();

  /** Bytes between the stack pointer and the guard pages. */
  static native long stackLeft();

  /** Calls JniUpDown.up(depth - 1) through JNI (CallStaticVoidMethod). */
  static native void down(int depth);
}
