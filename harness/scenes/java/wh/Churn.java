// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.IOException;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * Background work for fuzz --churn: keeps the collector busy, and loads, compiles, deoptimises and
 * drops classes. These are wh.ChurnGuest and its nested classes, so no code of a scene is affected.
 */
final class Churn {
  private static final int HELD_CHUNKS = 2048; // medium-lived: one chunk in eight is held
  private static final int MOST_CHUNK = 32 << 10; // bytes; so at most 64 MiB are held
  private static final int CHUNKS_A_TURN = 256;
  private static final long MILLIS_A_ROUND = 100; // at least, to bound the rate of class loads
  private static final int ROUNDS_A_COLLECTION = 16;
  private static final long MILLIS_AFTER_OUT_OF_MEMORY = 100;

  // Byte offsets of longs in the memory that the C++ side lends: ChurnCounts::java, shared_state.h.
  private static final int ROUNDS = 0;
  private static final int UNLOADED = 8;

  private static ByteBuffer counts;

  private Churn() {}

  /** Starts the work, which goes on for as long as the JVM. */
  static void start(long seed, ByteBuffer sharedCounts) throws IOException {
    counts = sharedCounts.order(ByteOrder.nativeOrder());
    Map<String, byte[]> guests = GuestsLoader.classFiles();
    startThread("churn-heap", () -> pressHeap(new Random(seed)));
    startThread("churn-code", () -> pressCode(guests));
  }

  /** Returns a wh.ChurnGuest that has not run yet, whose class has a loader of its own. */
  static Runnable newGuest() throws IOException, ReflectiveOperationException {
    return new GuestsLoader(GuestsLoader.classFiles()).guest();
  }

  private static Thread startThread(String name, Runnable work) {
    Thread thread = new Thread(null, work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  private static void count(int which) {
    counts.putLong(which, counts.getLong(which) + 1);
  }

  private static void pressHeap(Random random) {
    for (Object[] held = new Object[HELD_CHUNKS]; ; ) {
      try {
        for (int i = 0; i < CHUNKS_A_TURN; i++) {
          byte[] chunk = new byte[random.nextInt(MOST_CHUNK)];
          if (random.nextInt(8) == 0) held[random.nextInt(HELD_CHUNKS)] = chunk;
        }
      } catch (OutOfMemoryError e) { // the user's heap is too small
        held = new Object[HELD_CHUNKS];
        pause(MILLIS_AFTER_OUT_OF_MEMORY);
      }
    }
  }

  private static void pressCode(Map<String, byte[]> guests) {
    ReferenceQueue<Object> gone = new ReferenceQueue<>();
    Set<PhantomReference<Object>> waiting = new HashSet<>();
    for (long round = 1; ; round++) {
      try {
        GuestsLoader loader = new GuestsLoader(guests);
        waiting.add(new PhantomReference<>(loader, gone));
        startThread("churn-guest", loader.guest()).join();
        count(ROUNDS);
        loader = null;
        // Young collections unload no class. By the second round there are some to unload: the first
        // round's thread may still be on its way out at the end of the first round.
        if (round % ROUNDS_A_COLLECTION == 2) System.gc();
        for (Object dead; (dead = gone.poll()) != null; count(UNLOADED)) waiting.remove(dead);
      } catch (ReflectiveOperationException | InterruptedException e) {
        throw new AssertionError(e);
      } catch (OutOfMemoryError e) {
        System.gc();
      }
      pause(MILLIS_A_ROUND);
    }
  }

  private static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      throw new AssertionError(e); // no code interrupts these threads
    }
  }

  /** Defines the guest classes itself, anew in each instance, and is dropped with them. */
  private static final class GuestsLoader extends ClassLoader {
    private static final String GUEST = "wh.ChurnGuest";
    private static final String[] GUESTS = {GUEST, GUEST + "$Only", GUEST + "$Rival"};

    private final Map<String, byte[]> files;

    GuestsLoader(Map<String, byte[]> files) {
      super(GuestsLoader.class.getClassLoader());
      this.files = files;
    }

    static Map<String, byte[]> classFiles() throws IOException {
      Map<String, byte[]> files = new HashMap<>();
      for (String guest : GUESTS) files.put(guest, GuestLoader.fileOf(guest));
      return files;
    }

    Runnable guest() throws ReflectiveOperationException {
      return (Runnable) loadClass(GUEST).getDeclaredConstructor().newInstance();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      byte[] bytes = files.get(name);
      if (bytes == null) return super.loadClass(name, resolve);
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded != null ? loaded : defineClass(name, bytes, 0, bytes.length);
      }
    }
  }
}
