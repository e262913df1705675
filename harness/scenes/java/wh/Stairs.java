// SPDX-License-Identifier: Apache-2.0
package wh;

/** Interpreted frames that lead to a scene's own. */
final class Stairs {
  private Stairs() {}

  static void interpDown(int steps, String scene) throws Throwable {
    Object held = scene; // keeps an oop alive in each frame
    if (steps > 1) interpDown(steps - 1, scene);
    else Scenes.play(scene);
    if (held != scene) throw new AssertionError();
  }
}
