// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandles;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** Class-loader and hidden-class churn, with proof that dropped classes are unloaded. */
final class Classes extends Worker {
  private static final int ROUNDS_A_PROOF = 24;
  private static final int MOST_LEFT = 4; // a compilation under way or a stale frame may hold one

  private final List<WeakReference<Class<?>>> dropped = new ArrayList<>();
  private final List<Class<?>> leaked = new ArrayList<>(); // with --break only

  Classes(Context context) {
    super(context);
  }

  @Override
  public void round() throws Exception {
    for (int i = 0; i < 4 * context.scale; i++) {
      use(FreshLoader.guest(ClassGuest.class));
      use(hidden(i % 2 == 0));
    }
    if (context.rounds() % ROUNDS_A_PROOF == 0) expectUnloaded();
  }

  private void use(LongUnaryOperator guest) {
    long x = context.random.nextLong();
    for (int i = 0; i < 200; i++) {
      long actual = guest.applyAsLong(x + i);
      context.same("what a fresh class computed", ClassGuest.result(x + i), actual);
    }
    Class<?> used = guest.getClass();
    context.that(used != ClassGuest.class, "a class was not defined afresh");
    dropped.add(new WeakReference<>(used));
    if (context.broken()) leaked.add(used);
  }

  private static LongUnaryOperator hidden(boolean strong) throws ReflectiveOperationException {
    byte[] file = FreshLoader.classFile(ClassGuest.class.getName());
    MethodHandles.Lookup lookup = MethodHandles.lookup();
    if (strong) { // lives as long as its loader: take a fresh loader, dropped with it
      LongUnaryOperator host = FreshLoader.guest(ClassGuest.class);
      lookup = ((HostsHidden) host).lookup();
    }
    Class<?> hidden = Platform.hidden(lookup, file, strong);
    return (LongUnaryOperator) hidden.getDeclaredConstructor().newInstance();
  }

  private void expectUnloaded() throws InterruptedException {
    int all = dropped.size();
    long end = System.nanoTime() + context.patienceMillis() * 1_000_000;
    do {
      System.gc();
      dropped.removeIf(reference -> reference.get() == null);
      if (dropped.size() <= MOST_LEFT) return;
      Thread.sleep(20);
    } while (System.nanoTime() - end < 0);
    throw new Mismatch(dropped.size() + " of " + all + " dropped classes were not unloaded");
  }
}
