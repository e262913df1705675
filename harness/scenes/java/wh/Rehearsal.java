// SPDX-License-Identifier: Apache-2.0
package wh;

/**
 * Plays one scene again and again and parks nowhere, for walkers that look at every instruction on
 * the way: walkhammer step --scene. Its natives come from the agent. Apart from Scenes, which keeps
 * its size: seeds in corpora/ hang on where the metadata of our classes lies.
 */
public final class Rehearsal {
  private static final int CANNOT = 3;

  private Rehearsal() {}

  public static void main(String[] arguments) {
    String scene = arguments[0];
    new Thread(null, () -> play(scene), "scene-" + scene, Scenes.stackBytes(scene)).start();
  }

  /** Ends the JVM where the scene is no longer had: in time, C2 compiles also what C1 has. */
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
