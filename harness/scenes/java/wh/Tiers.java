// SPDX-License-Identifier: Apache-2.0
package wh;

import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

/** Brings methods to the tier that their names ask for (see Scenes). */
final class Tiers {
  private static final long DEADLINE_NS = 10_000_000_000L;
  private static final int PASSES_PER_POLL = 32;
  private static final int LEVEL_C2 = 4;

  private Tiers() {}

  static boolean c1Enabled() {
    for (int level = 1; level < LEVEL_C2; level++) {
      if (Harness.compilersEnabled(level)) return true;
    }
    return false;
  }

  static boolean c2Enabled() {
    return Harness.compilersEnabled(LEVEL_C2);
  }

  /** The kind of code, in the words of Harness.expect, that best* methods get. */
  static String best() {
    return c2Enabled() ? "c2" : c1Enabled() ? "c1" : "interpreted";
  }

  /** Warms the owners' methods up, states what code they run when parked, and arms park(). */
  static void ready(Runnable pass, Class<?>... owners) {
    warm(pass, owners);
    expect(owners);
    Harness.arm();
  }

  /** Runs the pass until each method of the owners has the code that its name asks for. */
  static void warm(Runnable pass, Class<?>... owners) {
    List<Target> targets = targets(owners);
    for (Target t : targets) t.require();
    long start = System.nanoTime();
    // Installed code must also survive more passes: it may still hit an uncommon trap.
    for (int good = 0; good < 2; ) {
      Target missing = firstMissing(targets);
      good = missing == null ? good + 1 : 0;
      if (missing != null && System.nanoTime() - start > DEADLINE_NS) {
        throw new Unavailable(missing + " did not reach " + missing.kind + " code within 10 s.");
      }
      for (int i = 0; i < PASSES_PER_POLL && good < 2; i++) pass.run();
    }
  }

  /** States that the owners' methods are on the parked stack, in the code their names ask for. */
  static void expect(Class<?>... owners) {
    for (Target t : targets(owners)) t.expect(t.kind);
  }

  /** States the same kind for all of the owner's methods whose names ask for compiled code. */
  static void expectAll(String kind, Class<?> owner) {
    for (Target t : targets(owner)) if (!t.kind.equals("interpreted")) t.expect(kind);
  }

  private static Target firstMissing(List<Target> targets) {
    for (Target t : targets) if (!t.reached()) return t;
    return null;
  }

  private static List<Target> targets(Class<?>... owners) {
    List<Target> targets = new ArrayList<>();
    for (Class<?> owner : owners) {
      for (Method m : owner.getDeclaredMethods()) {
        String kind = kindOf(m.getName());
        if (kind != null) targets.add(new Target(kind, owner, m));
      }
    }
    return targets;
  }

  private static String kindOf(String method) {
    if (method.startsWith("interp")) return "interpreted";
    if (method.startsWith("c1")) return "c1";
    if (method.startsWith("c2")) return "c2";
    if (method.startsWith("inlined")) return "c2-inlined";
    if (method.startsWith("best")) return best();
    return null;
  }

  private static final class Target {
    final String kind;
    private final Class<?> owner;
    private final String name;
    private final String signature;

    Target(String kind, Class<?> owner, Method m) {
      this.kind = kind;
      this.owner = owner;
      this.name = m.getName();
      this.signature =
          MethodType.methodType(m.getReturnType(), m.getParameterTypes())
              .toMethodDescriptorString();
    }

    void require() {
      if (kind.equals("c1") && !c1Enabled()) {
        throw new Unavailable("The C1 compiler is off in this JVM.");
      }
      if (kind.startsWith("c2") && !c2Enabled()) {
        throw new Unavailable("The C2 compiler is off in this JVM.");
      }
    }

    boolean reached() {
      if (kind.equals("c2-inlined")) return true; // shows only when parked, in its caller's code
      int level = Harness.level(owner, name, signature, false);
      switch (kind) {
        case "c1":
          if (level == LEVEL_C2) throw new Unavailable(this + " is compiled by C2, not by C1.");
          return level > 0;
        case "c2":
          return level == LEVEL_C2;
        default:
          if (level > 0) {
            throw new Unavailable(this + " is compiled, though jvm_flags.txt excludes it.");
          }
          return true;
      }
    }

    void expect(String what) {
      Harness.expect(what, owner, name, signature);
    }

    @Override
    public String toString() {
      return owner.getName() + "." + name;
    }
  }
}
