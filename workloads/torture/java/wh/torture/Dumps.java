// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import com.sun.management.HotSpotDiagnosticMXBean;
import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Heap and thread dumps, at a bounded rate, from threads whose stacks are known. */
final class Dumps extends Worker {
  private static final int MOST_LEVELS = 200;
  private static final long MILLIS_A_ROUND = 20; // at the least: dumps stop all threads
  private static final int ROUNDS_A_HEAP_DUMP = 40;
  private static final byte[] MAGIC = "JAVA PROFILE 1.0".getBytes(StandardCharsets.US_ASCII);

  private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
  private final HotSpotDiagnosticMXBean diagnostics =
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class);

  Dumps(Context context) {
    super(context);
  }

  @Override
  public void round() throws IOException, InterruptedException {
    for (int i = 0; i < context.scale; i++) {
      int levels = 1 + context.random.nextInt(MOST_LEVELS);
      descend(levels, levels);
    }
    // Thread 0 only: the VM makes one heap dump at a time.
    if (context.thread == 0 && context.rounds() % ROUNDS_A_HEAP_DUMP == 0) dumpHeap();
    Thread.sleep(MILLIS_A_ROUND);
  }

  private void descend(int left, int levels) {
    if (left > 1) {
      descend(left - 1, levels);
    } else {
      checkThreads(levels);
    }
  }

  private void checkThreads(int levels) {
    StackTraceElement[] own = null;
    for (ThreadInfo info : threads.dumpAllThreads(true, true)) {
      if (info.getThreadName().equals(context.threadName())) own = info.getStackTrace();
    }
    context.that(own != null, "a thread dump lacks the thread that made it");
    context.same("the depth in a thread dump", levels, context.planted(count(own)));
    StackTraceElement[] traced = Thread.getAllStackTraces().get(Thread.currentThread());
    context.same("the depth in a stack trace", levels, count(traced));
  }

  private static long count(StackTraceElement[] trace) {
    long count = 0;
    for (StackTraceElement frame : trace) {
      if (frame.getMethodName().equals("descend")) count++;
    }
    return count;
  }

  private void dumpHeap() throws IOException {
    Path folder = Files.createTempDirectory("torture-dumps");
    Path file = folder.resolve("heap.hprof");
    try {
      diagnostics.dumpHeap(file.toString(), false);
      byte[] head = new byte[MAGIC.length];
      try (DataInputStream in = new DataInputStream(Files.newInputStream(file))) {
        in.readFully(head);
      }
      context.same("the head of a heap dump", new String(MAGIC, StandardCharsets.US_ASCII),
          new String(head, StandardCharsets.US_ASCII));
      context.that(Files.size(file) > 100_000, "a heap dump is nearly empty");
    } finally {
      Files.deleteIfExists(file);
      Files.delete(folder);
    }
  }
}
