// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import jdk.jfr.Event;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/**
 * Stands for a JVM that has RequestStackTrace: threads that work, and answer what was asked of them
 * (harness/walkers/testing/fake_requests.cc) by events. Arguments: the fake library, and what goes
 * wrong: nothing, dropped, answered-twice, out-of-order, wrong-thread, never-asked, failed.
 */
class AnswersRequests {
  private static final int THREADS = 2;

  @Name("jdk.StackTraceRequest")
  @StackTrace
  static final class Answer extends Event {
    long userData;
    boolean failed;
    boolean biased;
  }

  private static final ConcurrentLinkedQueue<Long> handedOver = new ConcurrentLinkedQueue<>();
  private static volatile long sink;

  private static native void enter();

  private static native long take();

  private static void commit(long request, boolean failed) {
    Answer answer = new Answer();
    answer.userData = request;
    answer.failed = failed;
    answer.biased = true;
    answer.commit();
  }

  /** Answers all that waits: rightly, but for one of 16 if something is to go wrong. */
  private static void answer(String wrong) {
    for (long request; (request = take()) != 0; ) {
      if (wrong.equals("nothing") || ThreadLocalRandom.current().nextInt(16) != 0) {
        commit(request, false);
        continue;
      }
      switch (wrong) {
        case "dropped":
          break;
        case "answered-twice":
          commit(request, false);
          commit(request, false);
          break;
        case "out-of-order":
          long next = take();
          if (next != 0) commit(next, false);
          commit(request, false);
          break;
        case "wrong-thread":
          handedOver.add(request);
          break;
        case "never-asked":
          commit(request, false);
          commit(request | 1L << 39, false);
          break;
        case "failed":
          commit(request, true);
          break;
        default:
          throw new IllegalArgumentException(wrong);
      }
    }
  }

  private static int work(int depth) {
    return depth == 0 ? ThreadLocalRandom.current().nextInt(7) : work(depth - 1) + 1;
  }

  private static void run(String wrong) {
    enter();
    while (true) {
      for (int i = 0; i < 100; i++) sink += work(40);
      answer(wrong);
    }
  }

  public static void main(String[] arguments) throws InterruptedException {
    System.load(arguments[0]);
    for (int i = 0; i < THREADS; i++) {
      Thread thread = new Thread(() -> run(arguments[1]), "worker-" + i);
      thread.setDaemon(true);
      thread.start();
    }
    // Asks for nothing itself.
    for (Long request; ; Thread.sleep(1))
      while ((request = handedOver.poll()) != null) commit(request, false);
  }
}
