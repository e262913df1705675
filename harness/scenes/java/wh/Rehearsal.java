// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * Plays one scene again and again without parking, for walkhammer step --scene, which walks at each
 * instruction. The agent binds the natives. A class apart from Scenes, so that the size of Scenes
 * does not change: seeds in corpora/ depend on where the metadata of our classes is.
 */
public final class Rehearsal {
  private static final int CANNOT = 3;

  private Rehearsal() {}

  public static void main(String[] arguments) {
    String scene = arguments[0];
    new Thread(null, () -> play(scene), "scene-" + scene, Scenes.stackBytes(scene)).start();
  }

  /** Ends the JVM when the scene can no longer be played: in time, C2 also compiles what C1 has. */
  private static void play(String scene) {
    boolean played = false;
    try {
      for (; ; played = true) Stairs.interpDown(Scenes.stairs(scene), scene);
    } catch (Throwable t) {
      if (!played) System.err.println(Scenes.reason(t));
      System.exit(played ? 0 : CANNOT);
    }
  }
}
