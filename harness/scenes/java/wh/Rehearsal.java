package wh;

/**
 * Plays one scene again and again and parks nowhere, for walkers that look at every instruction on
 * the way: walkhammer step --scene. Its natives come from the agent.
 */
public final class Rehearsal {
  private static final int CANNOT = 3;

  private Rehearsal() {}

  public static void main(String[] arguments) {
    Scenes.rehearse(arguments[0], Rehearsal::end);
  }

  private static void end(String reason) {
    if (reason != null) System.err.println(reason);
    System.exit(reason == null ? 0 : CANNOT);
  }
}
