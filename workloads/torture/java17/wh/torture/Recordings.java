// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongUnaryOperator;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import jdk.jfr.consumer.RecordingStream;

/**
 * Recordings of JFR that start, stop, are dumped and streamed, several at once, while threads with
 * known stacks are born and die under its samplers, at the shortest periods that these take. Each
 * worker has its own recording. The stacks of the samples that are read back are checked.
 */
final class Recordings extends Worker {
  private static final int BURNERS = 4;
  private static final int MOST_LEVELS = 50; // JFR cuts stacks at 64 frames
  private static final int MOST_MILLIS = 40; // of a recording
  private static final String BURNER = "torture-burner-";
  // The execution sampler takes at least a millisecond. The sampler of CPU time, from JDK 25 on,
  // takes less, but Linux ends CPU timers at its clock tick. A JVM ignores the settings of events
  // that it lacks.
  private static final Map<String, String> SETTINGS = Map.of(
      "jdk.ExecutionSample#enabled", "true", "jdk.ExecutionSample#period", "1 ms",
      "jdk.NativeMethodSample#enabled", "true", "jdk.NativeMethodSample#period", "1 ms",
      "jdk.CPUTimeSample#enabled", "true", "jdk.CPUTimeSample#throttle", "20us",
      "jdk.ThreadStart#enabled", "true", "jdk.ThreadEnd#enabled", "true");

  private static final AtomicLong SAMPLES = new AtomicLong();
  private static final AtomicLong CHECKED = new AtomicLong();
  private static final AtomicLong RECORDINGS = new AtomicLong();

  static { // -Dtorture.tally=true: tells how much was tried
    if (Boolean.getBoolean("torture.tally")) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println(
          "torture: " + RECORDINGS + " recordings, " + SAMPLES + " samples read back, "
              + CHECKED + " of known stacks")));
    }
  }

  private long checked; // stacks of burners

  Recordings(Context context) {
    super(context);
    if (ModuleLayer.boot().findModule("jdk.jfr").isEmpty() || !FlightRecorder.isAvailable()) {
      throw new Unavailable("This JVM has no JFR");
    }
  }

  @Override
  public void round() throws IOException, InterruptedException {
    long before = checked;
    long until = System.nanoTime() + context.patienceMillis() * 1_000_000;
    do {
      if (context.random.nextInt(4) == 0) {
        stream();
      } else {
        record(context.random.nextInt(3) > 0);
      }
    } while (checked == before && System.nanoTime() < until);
    context.that(checked > before, "no sample of a thread with a known stack was read back");
  }

  /** One recording; {@code dumped}: it is written to a file and read back. */
  private void record(boolean dumped) throws IOException, InterruptedException {
    Path file = dumped ? Files.createTempFile("torture", ".jfr") : null;
    try {
      Thread[] burners;
      try (Recording recording = new Recording(SETTINGS)) {
        recording.setToDisk(dumped || context.random.nextBoolean());
        recording.start();
        burners = burn();
        Thread.sleep(1 + context.random.nextInt(MOST_MILLIS));
        if (context.random.nextBoolean()) recording.stop();
        if (dumped) recording.dump(file);
      }
      join(burners); // some of them have outlived the recording
      if (dumped && Files.size(file) > 0) {
        for (RecordedEvent event : RecordingFile.readAllEvents(file)) check(event);
      }
    } finally {
      if (dumped) Files.delete(file);
    }
  }

  private void stream() throws InterruptedException {
    AtomicLong seen = new AtomicLong();
    Thread[] burners;
    try (RecordingStream stream = new RecordingStream()) {
      stream.setSettings(SETTINGS);
      stream.onEvent(event -> seen.addAndGet(isSample(event) ? 1 : 0));
      stream.setMaxAge(Duration.ofSeconds(1));
      stream.startAsync();
      burners = burn();
      Thread.sleep(1 + context.random.nextInt(MOST_MILLIS));
    }
    join(burners);
    SAMPLES.addAndGet(seen.get());
  }

  private static void join(Thread[] threads) throws InterruptedException {
    for (Thread thread : threads) thread.join();
    RECORDINGS.incrementAndGet();
  }

  private Thread[] burn() {
    Thread[] burners = new Thread[BURNERS * context.scale];
    for (int i = 0; i < burners.length; i++) {
      int levels = 1 + context.random.nextInt(MOST_LEVELS);
      long nanos = context.random.nextInt(MOST_MILLIS * 500_000);
      boolean fresh = context.random.nextInt(8) == 0;
      burners[i] = new Thread(null, () -> descend(levels, nanos, fresh), BURNER + levels);
      burners[i].start();
    }
    return burners;
  }

  private static long descend(int left, long nanos, boolean fresh) {
    return left > 1 ? 1 + descend(left - 1, nanos, fresh) : leaf(nanos, fresh);
  }

  private static long leaf(long nanos, boolean fresh) {
    long end = System.nanoTime() + nanos;
    long sum = 0;
    while (System.nanoTime() < end) {
      if (fresh) { // code and classes that are gone when the recording is written
        LongUnaryOperator guest = fresh();
        for (int i = 0; i < 100; i++) sum += guest.applyAsLong(i);
      } else {
        for (int i = 0; i < 1000; i++) sum = sum * 31 + i;
      }
    }
    return sum;
  }

  private static LongUnaryOperator fresh() {
    try {
      return FreshLoader.guest(ClassGuest.class);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static boolean isSample(RecordedEvent event) {
    String name = event.getEventType().getName();
    return name.endsWith("Sample");
  }

  /** Counts a sample; that of a burner in its leaf has all callers of the leaf. */
  private void check(RecordedEvent event) {
    if (!isSample(event)) return;
    SAMPLES.incrementAndGet();
    RecordedStackTrace stack = event.getStackTrace();
    RecordedThread thread =
        event.getThread(event.hasField("sampledThread") ? "sampledThread" : "eventThread");
    if (stack == null || thread == null || thread.getJavaName() == null
        || !thread.getJavaName().startsWith(BURNER)) {
      return;
    }
    boolean inLeaf = false;
    long callers = 0;
    for (RecordedFrame frame : stack.getFrames()) {
      if (!frame.getMethod().getType().getName().equals(Recordings.class.getName())) continue;
      String method = frame.getMethod().getName();
      inLeaf |= method.equals("leaf");
      if (inLeaf && method.equals("descend")) callers++;
    }
    if (!inLeaf || stack.isTruncated()) return;
    checked++;
    CHECKED.incrementAndGet();
    context.same("the number of callers in a sample of JFR",
        Long.parseLong(thread.getJavaName().substring(BURNER.length())), context.planted(callers));
  }
}
