// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import wh.torture.ShadowTree.Lost;

/** Random call trees through instrumented methods. Compares shadow and stack now and then. */
final class ShadowProgram extends Worker {
  private static final int FUEL = 1500;
  private static final int REPEATS = 8; // runs of a tree for each run of the model
  private static final String NO_INLINING = "dontinline,wh.torture.ShadowWork*::*";

  private static final class Table {
    private static final Map<String, Integer> IDS = new HashMap<>();

    static {
      List<Class<?>> classes = new ArrayList<>(Arrays.asList(ShadowWorkFrames.class,
          ShadowWorkCalls.class, ShadowWorkKinds.class, ShadowWorkLeaves.class));
      classes.addAll(Arrays.asList(ShadowWorkKinds.class.getDeclaredClasses()));
      for (Class<?> each : classes) {
        for (Method method : each.getDeclaredMethods()) add(method);
      }
    }

    private static void add(Method method) {
      Shadowed shadowed = method.getAnnotation(Shadowed.class);
      if (shadowed == null) return;
      IDS.put(method.getDeclaringClass().getName() + '.' + method.getName(), shadowed.value());
      Shadow.announce(shadowed.value(), method);
    }
  }

  private final Shadow shadow = new Shadow();
  private final ShadowWork work = new ShadowWork(shadow, this::compare);

  ShadowProgram(Context context) {
    super(context);
    context.that(new HashSet<>(Table.IDS.values()).size() == Table.IDS.size(),
        "two instrumented methods have one id");
  }

  @Override
  void work() throws Throwable {
    boolean watched = shadow.register();
    try {
      if (watched) requireNoInlining();
      super.work();
    } finally {
      shadow.unregister();
    }
  }

  // An instrumented method inlined into another would come and go between enter and close.
  private static void requireNoInlining() {
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.contains(NO_INLINING) || flag.equals("-Xint")) return;
    }
    throw new Unavailable("A native agent reads the shadow, so it needs -XX:CompileCommand="
        + NO_INLINING);
  }

  @Override
  public void round() {
    long x = context.random.nextLong();
    int fuel = FUEL * context.scale;
    long expected = valueByModel(fuel, x);
    for (int i = 0; i < REPEATS; i++) {
      context.same("the value of a tree", expected, context.planted(value(fuel, x)));
      context.same("the depth of a shadow at rest", 0, shadow.depth());
    }
  }

  private static long valueByModel(int fuel, long x) {
    try {
      return ShadowTree.value(0, fuel, x);
    } catch (Lost lost) {
      return lost.value;
    }
  }

  private long value(int fuel, long x) {
    try {
      return work.visit(0, fuel, x);
    } catch (Lost lost) {
      return lost.value;
    }
  }

  /** Runs in a leaf, after its enter, where frames and shadow must be equal. */
  private void compare() {
    List<Integer> ids = new ArrayList<>();
    for (String frame : Platform.frames()) {
      Integer id = Table.IDS.get(frame);
      if (id != null) ids.add(id);
    }
    context.same("the shadow's depth", ids.size(), shadow.depth());
    for (int i = 0; i < ids.size(); i++) {
      context.same("an id of the shadow", (int) ids.get(ids.size() - 1 - i), shadow.id(i));
    }
  }
}
