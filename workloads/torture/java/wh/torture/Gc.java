// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.ref.PhantomReference;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.SoftReference;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Allocation pressure, and storms of weak, soft and phantom references. */
final class Gc extends Worker {
  private static final int HELD_CHUNKS = 256;
  private static final int MOST_CHUNK = 4096; // longs
  private static final int HUGE_CHUNK = 1 << 18; // longs; larger than half a G1 region of 1 MiB
  private static final int REFERENCES = 500;
  private static final int ROUNDS_A_PROOF = 50;

  private final long[][] held = new long[HELD_CHUNKS][];
  private final ReferenceQueue<Object> gone = new ReferenceQueue<>();
  private final Set<Reference<?>> waiting = new HashSet<>();
  private final List<SoftReference<long[]>> soft = new ArrayList<>();
  private Node survivors;

  private static final class Node {
    private final Node next;
    private final long value;

    Node(Node next, long value) {
      this.next = next;
      this.value = value;
    }

    Node next() {
      return next;
    }

    long value() {
      return value;
    }
  }

  Gc(Context context) {
    super(context);
  }

  @Override
  public void round() throws InterruptedException {
    for (int i = 0; i < 200 * context.scale; i++) allocate();
    allocateNodes();
    storm();
    if (context.rounds() % ROUNDS_A_PROOF == 0) expectCleared();
  }

  private void allocate() {
    int length = 1 + context.random.nextInt(MOST_CHUNK);
    if (context.random.nextInt(1000) == 0) length = HUGE_CHUNK;
    int place = context.random.nextInt(HELD_CHUNKS);
    if (held[place] != null) checkChunk(held[place]);
    held[place] = chunk(length);
  }

  private static long[] chunk(int length) {
    long[] chunk = new long[length];
    for (int i = 0; i < length; i += 16) chunk[i] = Mix.mix(length + i);
    return chunk;
  }

  private void checkChunk(long[] chunk) {
    for (int i = 0; i < chunk.length; i += 16) {
      if (chunk[i] != Mix.mix(chunk.length + i)) throw new Mismatch("a held array was changed");
    }
  }

  private void allocateNodes() {
    int count = 2000;
    long seed = context.random.nextLong();
    survivors = null; // drops the list of the last round
    long expected = 0;
    for (int i = 0; i < count; i++) {
      survivors = new Node(survivors, seed + i);
      expected += seed + i;
    }
    long sum = 0;
    for (Node node = survivors; node != null; node = node.next()) sum += node.value();
    context.same("the sum of a list", expected, context.planted(sum));
  }

  private void storm() {
    List<long[]> kept = new ArrayList<>();
    List<Reference<long[]>> toKept = new ArrayList<>();
    for (int i = 0; i < REFERENCES; i++) {
      long[] referent = chunk(1 + i % 32);
      waiting.add(new PhantomReference<>(referent, gone));
      if (i % 8 == 0) soft.add(new SoftReference<>(referent));
      Reference<long[]> weak = new WeakReference<>(referent, gone);
      if (i % 2 == 0) {
        kept.add(referent);
        toKept.add(weak);
      } else {
        waiting.add(weak);
      }
    }
    for (int i = 0; i < kept.size(); i++) {
      context.that(toKept.get(i).get() == kept.get(i), "a weak reference to a held object is gone");
    }
    for (SoftReference<long[]> reference : soft) {
      long[] chunk = reference.get();
      if (chunk != null) checkChunk(chunk);
    }
    if (soft.size() > 20 * REFERENCES) soft.clear();
    poll();
  }

  private void poll() {
    for (Reference<?> dead; (dead = gone.poll()) != null; waiting.remove(dead)) {
      context.that(dead.get() == null, "an enqueued reference still has its referent");
    }
  }

  private void expectCleared() throws InterruptedException {
    soft.clear();
    long end = System.nanoTime() + context.patienceMillis() * 1_000_000;
    while (true) {
      System.gc();
      Thread.sleep(5); // references are enqueued by another thread
      poll();
      if (waiting.isEmpty()) return;
      context.that(System.nanoTime() - end < 0, waiting.size() + " references were never enqueued");
    }
  }
}
