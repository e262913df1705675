// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import wh.torture.ShadowTree.Lost;

/**
 * The code between instrumented methods, not instrumented itself: chooses the method for a node and
 * calls a node's kids. No method of ShadowWork* may be inlined: see torture.catalogue.
 */
final class ShadowWork {
  final Shadow shadow;

  private final ShadowWorkFrames frames;
  private final ShadowWorkCalls calls;
  private final ShadowWorkKinds kinds;
  private final ShadowWorkLeaves leaves;
  private final Runnable checkpoint;

  /** The checkpoint runs in some leaves. */
  ShadowWork(Shadow shadow, Runnable checkpoint) {
    this.shadow = shadow;
    this.checkpoint = checkpoint;
    frames = new ShadowWorkFrames(this);
    calls = new ShadowWorkCalls(this);
    kinds = new ShadowWorkKinds(this);
    leaves = new ShadowWorkLeaves(this);
  }

  /** Computes a node's value by the method that x chooses. */
  long visit(int depth, int fuel, long x) throws Lost {
    int choice = (int) (x >>> 32);
    if (ShadowTree.kids(depth, fuel, x) == 0) return leaves.visit(choice & 7, x);
    switch (choice & 3) {
      case 0:
        return frames.visit(choice >>> 2 & 15, depth, fuel, x);
      case 1:
        return calls.visit(choice >>> 2 & 7, depth, fuel, x);
      case 2:
        return kinds.visit(choice >>> 2 & 15, depth, fuel, x);
      default:
        return visit(depth, fuel, x, choice >>> 2);
    }
  }

  private long visit(int depth, int fuel, long x, int choice) throws Lost {
    return (choice & 1) == 0
        ? frames.visit(choice >>> 1 & 15, depth, fuel, x)
        : kinds.visit(choice >>> 1 & 15, depth, fuel, x);
  }

  /** The value of one kid of a node. */
  long kid(int kid, int depth, int fuel, long x) throws Lost {
    int share = ShadowTree.share(fuel, ShadowTree.kids(depth, fuel, x), kid);
    long at = ShadowTree.kid(x, kid);
    if (!ShadowTree.guards(x, kid)) return visit(depth + 1, share, at);
    try {
      return visit(depth + 1, share, at);
    } catch (Lost lost) {
      return lost.value;
    }
  }

  /** The node's value, from all kids. */
  long kids(int depth, int fuel, long x) throws Lost {
    return kids(0, x, depth, fuel, x);
  }

  /** The node's value; {@code sum} holds the kids with an index below {@code first} already. */
  long kids(int first, long sum, int depth, int fuel, long x) throws Lost {
    int kids = ShadowTree.kids(depth, fuel, x);
    if (kids == 0) return leaf(x);
    long all = sum;
    for (int i = first; i < kids; i++) all = Mix.fold(all, kid(i, depth, fuel, x));
    return all;
  }

  long leaf(long x) throws Lost {
    if ((x >>> 48 & 255) == 0) checkpoint.run();
    return ShadowTree.leaf(x);
  }
}
