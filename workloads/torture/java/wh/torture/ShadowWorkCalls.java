// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import wh.torture.ShadowTree.Lost;

/** Instrumented methods that call each other directly, and themselves. */
@SuppressWarnings("try") // the resource only marks the stack
final class ShadowWorkCalls {
  private final ShadowWork work;
  private final Shadow shadow;

  ShadowWorkCalls(ShadowWork work) {
    this.work = work;
    shadow = work.shadow;
  }

  long visit(int choice, int depth, int fuel, long x) throws Lost {
    switch (choice) {
      case 0:
      case 1:
        return ping(depth, fuel, x);
      case 2:
        return again(depth, fuel, x);
      case 3:
        return first(depth, fuel, x, 0.5);
      case 4:
        return second(fuel, x, depth);
      case 5:
        return third(depth, fuel, x, "text");
      default:
        return pong(x, depth, fuel);
    }
  }

  /** True if a node has kids and the edge to its first kid does not guard. */
  private static boolean isDirect(int depth, int fuel, long x) {
    return ShadowTree.kids(depth, fuel, x) > 0 && !ShadowTree.guards(x, 0);
  }

  private static int share(int depth, int fuel, long x) {
    return ShadowTree.share(fuel, ShadowTree.kids(depth, fuel, x), 0);
  }

  @Shadowed(14)
  private long ping(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(14)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x);
      long kid = pong(ShadowTree.kid(x, 0), depth + 1, share(depth, fuel, x));
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }

  @Shadowed(15)
  private long pong(long x, int depth, int fuel) throws Lost {
    try (Shadow entered = shadow.enter(15)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x);
      long kid = ping(depth + 1, share(depth, fuel, x), ShadowTree.kid(x, 0));
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }

  @Shadowed(16)
  private long again(int depth, int fuel, long x) throws Lost {
    try (Shadow entered = shadow.enter(16)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x);
      long kid = again(depth + 1, share(depth, fuel, x), ShadowTree.kid(x, 0));
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }

  // A ring of three methods, each with another list of arguments.

  @Shadowed(17)
  private long first(int depth, int fuel, long x, double half) throws Lost {
    try (Shadow entered = shadow.enter(17)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x) + (long) half;
      long kid = second(share(depth, fuel, x), ShadowTree.kid(x, 0), depth + 1);
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }

  @Shadowed(18)
  private long second(int fuel, long x, int depth) throws Lost {
    try (Shadow entered = shadow.enter(18)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x);
      long kid = third(depth + 1, share(depth, fuel, x), ShadowTree.kid(x, 0), "text");
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }

  @Shadowed(19)
  private long third(int depth, int fuel, long x, String four) throws Lost {
    try (Shadow entered = shadow.enter(19)) {
      if (!isDirect(depth, fuel, x)) return work.kids(depth, fuel, x) + four.length() - 4;
      long kid = first(depth + 1, share(depth, fuel, x), ShadowTree.kid(x, 0), 0.5);
      return work.kids(1, Mix.fold(x, kid), depth, fuel, x);
    }
  }
}
