// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.LongStream;
import wh.torture.ShadowTree.Lost;

/** Instrumented methods of all kinds (static, synchronized, ...), some with JDK frames between. */
@SuppressWarnings("try") // the resource only marks the stack
final class ShadowWorkKinds {
  private final ShadowWork work;
  private final Shadow shadow;
  private final Node[] nodes;
  private final Method reflected;
  private final MethodHandle handle;

  ShadowWorkKinds(ShadowWork work) {
    this.work = work;
    shadow = work.shadow;
    nodes = new Node[] {new Leftmost(work), new Doubting(work), new Defaulting(work)};
    MethodType type =
        MethodType.methodType(long.class, ShadowWork.class, int.class, int.class, long.class);
    try {
      reflected = ShadowWork.class.getDeclaredMethod("kids", int.class, int.class, long.class);
      handle = MethodHandles.lookup().findStatic(ShadowWorkKinds.class, "byStatic", type)
          .bindTo(work);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  long visit(int choice, int depth, int fuel, long x) throws Lost {
    switch (choice) {
      case 0:
        return locked(depth, fuel, x);
      case 1:
        return lockedBlock(depth, fuel, x);
      case 2:
        return byStatic(work, depth, fuel, x);
      case 3:
        return byHandle(depth, fuel, x);
      case 4:
        return byReflection(depth, fuel, x);
      case 5:
        return byLambda(depth, fuel, x);
      case 6:
        return byStream(depth, fuel, x);
      case 7:
        return byMap(depth, fuel, x);
      case 8:
      case 9:
      case 10:
        return nodes[choice - 8].byInterface(depth, fuel, x);
      case 11:
        return ((Leftmost) nodes[0]).byVirtual(depth, fuel, x);
      case 12:
        return ((Leftmost) nodes[1]).byVirtual(depth, fuel, x);
      default:
        return finalOne(depth, fuel, x);
    }
  }

  /** Receivers of interface and virtual calls. */
  private interface Node {
    ShadowWork work();

    @Shadowed(20)
    default long byInterface(int depth, int fuel, long x) throws Lost {
      try (Shadow entered = work().shadow.enter(20)) {
        return work().kids(depth, fuel, x);
      }
    }
  }

  private static final class Defaulting implements Node {
    private final ShadowWork work;

    Defaulting(ShadowWork work) {
      this.work = work;
    }

    @Override
    public ShadowWork work() {
      return work;
    }
  }

  private static class Leftmost implements Node {
    final ShadowWork work;

    Leftmost(ShadowWork work) {
      this.work = work;
    }

    @Override
    public ShadowWork work() {
      return work;
    }

    @Override
    @Shadowed(21)
    public long byInterface(int depth, int fuel, long x) throws Lost {
      try (Shadow entered = work.shadow.enter(21)) {
        return work.kids(1, Mix.fold(x, work.kid(0, depth, fuel, x)), depth, fuel, x);
      }
    }

    @Shadowed(22)
    long byVirtual(int depth, int fuel, long x) throws Lost {
      try (Shadow entered = work.shadow.enter(22)) {
        return work.kids(depth, fuel, x);
      }
    }
  }

  private static final class Doubting extends Leftmost {
    Doubting(ShadowWork work) {
      super(work);
    }

    @Override
    @Shadowed(23)
    long byVirtual(int depth, int fuel, long x) throws Lost {
      try (Shadow entered = work.shadow.enter(23)) {
        return work.kids(depth, fuel, x);
      }
    }
  }

  @Shadowed(24)
  private synchronized long locked(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(24)) {
      return work.kids(depth, fuel, x);
    }
  }

  @Shadowed(25)
  private long lockedBlock(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(25)) {
      synchronized (nodes[(int) x & 1]) {
        return work.kids(depth, fuel, x);
      }
    }
  }

  @Shadowed(26)
  private static long byStatic(ShadowWork work, int depth, int fuel, long x) throws Lost {
    try (Shadow entered = work.shadow.enter(26)) {
      return work.kids(depth, fuel, x);
    }
  }

  // Calls byStatic by a handle for the first kid; calls the other kids as usual.
  @Shadowed(27)
  private long byHandle(int depth, int fuel, long x) throws Lost {
    shadow.enter(27);
    try {
      if (ShadowTree.guards(x, 0)) return work.kids(depth, fuel, x);
      int share = ShadowTree.share(fuel, ShadowTree.kids(depth, fuel, x), 0);
      long kid = (long) handle.invokeExact(depth + 1, share, ShadowTree.kid(x, 0));
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    } catch (Lost | RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    } finally {
      shadow.close();
    }
  }

  @Shadowed(28)
  private long byReflection(int depth, int fuel, long x) throws Lost {
    shadow.enter(28);
    try {
      return (long) reflected.invoke(work, depth, fuel, x);
    } catch (InvocationTargetException e) {
      throw lost(e.getCause());
    } catch (IllegalAccessException e) {
      throw new IllegalStateException(e);
    } finally {
      shadow.close();
    }
  }

  private static Lost lost(Throwable thrown) {
    if (thrown instanceof Lost) return (Lost) thrown;
    if (thrown instanceof Mismatch) throw (Mismatch) thrown;
    throw new IllegalStateException(thrown);
  }

  @Shadowed(29)
  private long byLambda(int depth, int fuel, long x) throws Lost {
    shadow.enter(29);
    try {
      Callable<Long> kids = () -> work.kids(depth, fuel, x);
      return kids.call();
    } catch (Exception e) {
      throw lost(e);
    } finally {
      shadow.close();
    }
  }

  /** Carries a Lost through code that may not throw it. */
  private static final class Carrier extends RuntimeException {
    private static final long serialVersionUID = 1;

    Carrier(Lost lost) {
      super(null, lost, false, false);
    }
  }

  private long kidsUnchecked(int depth, int fuel, long x) {
    try {
      return work.kids(depth, fuel, x);
    } catch (Lost lost) {
      throw new Carrier(lost);
    }
  }

  @Shadowed(30)
  private long byStream(int depth, int fuel, long x) throws Lost {
    shadow.enter(30);
    try {
      return LongStream.of(x).map(at -> kidsUnchecked(depth, fuel, at)).sum();
    } catch (Carrier e) {
      throw lost(e.getCause());
    } finally {
      shadow.close();
    }
  }

  @Shadowed(31)
  private long byMap(int depth, int fuel, long x) throws Lost {
    shadow.enter(31);
    try {
      return new TreeMap<Long, Long>().computeIfAbsent(x, at -> kidsUnchecked(depth, fuel, at));
    } catch (Carrier e) {
      throw lost(e.getCause());
    } finally {
      shadow.close();
    }
  }

  @Shadowed(32)
  final long finalOne(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(32)) {
      return work.kids(depth, fuel, x);
    }
  }
}
