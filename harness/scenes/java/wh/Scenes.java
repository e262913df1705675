// SPDX-License-Identifier: Apache-2.0
package wh;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The live situations whose stacks are walked: see scene_table.cc for the list.
 *
 * <p>A method's name says how it runs, by the CompileCommand lines of jvm_flags.txt: interp* is
 * interpreted, c1* and c2* are compiled by that compiler, best* by the best one of this JVM,
 * inlined* is inlined, osr* is replaced on the stack. Other methods run too rarely to be compiled.
 */
public final class Scenes {
  private static final long STACK_BYTES = 16L << 20;
  // With a small stack, few large frames reach the guard pages.
  private static final long SMALL_STACK_BYTES = 768L << 10;
  // Classes are initialised once, code is invalidated once, and the second call of a method with a
  // hot loop enters its normal code.
  private static final Set<String> ONCE_PER_JVM =
      new HashSet<>(Arrays.asList("static-initializer", "pending-deopt", "osr-loop"));
  private static final Set<String> played = ConcurrentHashMap.newKeySet();
  private static final int PARKS_BEFORE_WRAPPER = 1024;

  static {
    // Makes park() a compiled native wrapper in every scene, whichever scene starts first.
    for (int i = 0; i < PARKS_BEFORE_WRAPPER; i++) Harness.park();
  }

  private Scenes() {}

  /** Starts the scene; the returned thread parks in it or reports why it cannot. Throws nothing. */
  static Thread start(String scene) {
    if (scene.startsWith("virtual-")) {
      try {
        return VirtualThreads.start("scene-" + scene, new Stage(scene));
      } catch (Throwable t) {
        return start(scene, () -> Harness.unavailable(reason(t)));
      }
    }
    return start(scene, null);
  }

  private static Thread start(String scene, Runnable instead) {
    Thread thread = new SceneThread(scene, instead);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  /** Overrides run() rather than take a Runnable, so that all JDKs have the same frames here. */
  private static final class SceneThread extends Thread {
    private final String scene;
    private final Runnable instead;

    SceneThread(String scene, Runnable instead) {
      super(null, null, "scene-" + scene, stackBytes(scene));
      this.scene = scene;
      this.instead = instead;
    }

    @Override
    public void run() {
      if (instead != null) instead.run();
      else stage(scene);
    }
  }

  /** Not a lambda: the hidden class of a lambda has another name in each run. */
  private static final class Stage implements Runnable {
    private final String scene;

    Stage(String scene) {
      this.scene = scene;
    }

    @Override
    public void run() {
      stage(scene);
    }
  }

  static long stackBytes(String scene) {
    return scene.equals("guard-pages") ? SMALL_STACK_BYTES : STACK_BYTES;
  }

  private static void stage(String scene) {
    try {
      if (!played.add(scene) && ONCE_PER_JVM.contains(scene)) {
        throw new Unavailable("The scene " + scene + " can be made once in a JVM, and was.");
      }
      Stairs.interpDown(stairs(scene), scene);
    } catch (Throwable t) {
      Harness.unavailable(reason(t));
    }
  }

  static String reason(Throwable t) {
    return t instanceof Unavailable ? t.getMessage() : "Setting up the scene failed: " + t + ".";
  }

  /** Interpreted frames that lead to the scene's own, to bring short scenes to a usual depth. */
  static int stairs(String scene) {
    switch (scene) {
      case "interpreted-recursion":
      case "c2":
      case "deep-recursion":
      case "guard-pages":
      case "lambda-reflection":
        return 1;
      default:
        return 10;
    }
  }

  static void play(String scene) throws Throwable {
    switch (scene) {
      case "interpreted-recursion": Recursion.playInterpreted(); break;
      case "c1": C1Chain.play(); break;
      case "c2": C2Chain.play(); break;
      case "c2-inlined-chain": InlinedChain.play(); break;
      case "osr-loop": OsrLoop.play(); break;
      case "jni-up-down": JniUpDown.play(); break;
      case "deep-recursion": Recursion.playDeep(); break;
      case "exception-finally": Exceptions.playFinally(); break;
      case "exception-construct": Exceptions.playConstruct(); break;
      case "monitor-held": Monitors.playHeld(); break;
      case "monitor-enter": Monitors.playEnter(); break;
      case "monitor-enter-c2": Monitors.playEnterC2(); break;
      case "monitor-wait": Monitors.playWait(); break;
      case "lambda-reflection": Indirect.play(); break;
      case "static-initializer": Initializers.play(); break;
      case "pending-deopt": PendingDeopt.play(); break;
      case "deoptimized": Deoptimized.play(); break;
      case "guard-pages": GuardPages.play(); break;
      case "class-loader": GuestLoader.play(); break;
      case "huge-frame": HugeFrame.play(); break;
      case "mixed-tiers": MixedTiers.play(); break;
      case "virtual-mounted": VirtualThreads.playMounted(); break;
      case "virtual-pinned": VirtualThreads.playPinned(); break;
      case "virtual-thawed": VirtualThreads.playThawed(); break;
      case "sampled": Sampled.play(); break;
      case "zombie-code": ZombieCode.play(); break;
      default: throw new Unavailable("There is no scene named " + scene + ".");
    }
  }
}
