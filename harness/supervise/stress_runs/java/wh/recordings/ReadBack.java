// SPDX-License-Identifier: Apache-2.0
package wh.recordings;

import java.io.BufferedWriter;
import java.io.IOException;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * Reads all events of recordings, with the reader of the JDK that made them, and writes the
 * samples, one distinct stack a line, for harness/supervise/stress_runs/read_back.cc.
 */
final class ReadBack {
  /** Stands for the stacks that found no room. */
  private static final String TABLE_FULL = "[stack table full]";
  private static final int MOST_STACKS = 50_000;
  private static final long MOST_CHARACTERS = 64L << 20;

  private static final Pattern HIDDEN = Pattern.compile("([+./])0x[0-9a-f]+([./][0-9]+)?");

  private final Map<String, String> plain = new HashMap<>();
  private final Map<String, long[]> stacks = new HashMap<>();
  private final Map<RecordedStackTrace, String> written = new IdentityHashMap<>();
  private final BufferedWriter out;
  private long characters, writtenCharacters, frames, withoutLine, lost, events, timed, periodNanos;

  private ReadBack(BufferedWriter out) {
    this.out = out;
  }

  public static void main(String[] arguments) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(Path.of(arguments[0]))) {
      ReadBack all = new ReadBack(out);
      for (int i = 1; i < arguments.length; i++) all.read(Path.of(arguments[i]));
      all.write();
    }
  }

  private void read(Path path) throws IOException {
    try (RecordingFile file = new RecordingFile(path)) {
      while (file.hasMoreEvents()) {
        add(file.readEvent());
        if (writtenCharacters > MOST_CHARACTERS / 2) forget();
      }
    }
    forget();
  }

  private void forget() {
    written.clear();
    writtenCharacters = 0;
  }

  private void add(RecordedEvent event) throws IOException {
    events++;
    String type = event.getEventType().getName();
    switch (type) {
      case "jdk.CPUTimeSamplesLost":
        lost += event.getInt("lostSamples");
        break;
      case "jdk.CPUTimeSample":
        timed++;
        periodNanos += event.getDuration("samplingPeriod").toNanos();
        addStack(type, event);
        break;
      case "jdk.ExecutionSample":
      case "jdk.NativeMethodSample":
      case "profiler.WallClockSample":
        addStack(type, event);
        break;
      case "jdk.StackTraceRequest":
        addAnswer(type, event);
        break;
      default:
    }
  }

  /** Writes who is answered; a request that failed has no stack. */
  private void addAnswer(String type, RecordedEvent event) throws IOException {
    boolean failed = event.getBoolean("failed");
    RecordedThread thread = event.getThread();
    Instant start = event.getStartTime();
    long nanos = start.getEpochSecond() * 1_000_000_000 + start.getNano();
    out.write("answer\t" + event.getLong("userData") + "\t" + nanos + "\t"
        + (thread == null ? -1 : thread.getOSThreadId()) + "\t" + (failed ? "f" : "")
        + (event.getBoolean("biased") ? "b" : "") + "\n");
    if (!failed) addStack(type, event);
  }

  private void addStack(String type, RecordedEvent event) {
    RecordedStackTrace trace = event.getStackTrace();
    String text = trace == null ? "-\t" : written.computeIfAbsent(trace, this::text);
    String key = type.substring(type.indexOf('.') + 1) + "\t" + text;
    long[] count = stacks.get(key);
    if (count == null) {
      if (stacks.size() >= MOST_STACKS || characters + key.length() > MOST_CHARACTERS)
        key = key.substring(0, key.lastIndexOf('\t') + 1) + TABLE_FULL;
      characters += key.length();
      count = stacks.computeIfAbsent(key, ignored -> new long[1]);
    }
    count[0]++;
  }

  /**
   * Returns flags, a tab, and the frames, outermost first. Flags: n outermost frame native, t
   * truncated, u method unknown, b no bci, - no stack.
   */
  private String text(RecordedStackTrace trace) {
    List<RecordedFrame> list = trace.getFrames();
    if (list.isEmpty()) return "-\t";
    StringBuilder text = new StringBuilder();
    boolean unknown = false, badBci = false, nativeCaller = false;
    for (int i = list.size() - 1; i >= 0; i--) {
      RecordedFrame frame = list.get(i);
      RecordedMethod method = frame.getMethod();
      if (text.length() > 0) text.append(';');
      boolean nameless = method == null || method.getName() == null || method.getName().isEmpty();
      text.append(nameless ? "[unknown method]" : name(frame, method));
      unknown |= nameless;
      if (i == list.size() - 1) nativeCaller = !nameless && !isJava(frame, method);
      frames++;
      if (nameless || !isJava(frame, method) || Modifier.isNative(method.getModifiers())) continue;
      if (frame.getLineNumber() < 0) withoutLine++;
      badBci |= frame.getBytecodeIndex() < 0;
    }
    String flags = (nativeCaller ? "n" : "") + (trace.isTruncated() ? "t" : "")
        + (unknown ? "u" : "") + (badBci ? "b" : "");
    writtenCharacters += text.length();
    return flags + "\t" + text;
  }

  /** Drops the addresses and hashes in the names of hidden classes, which never repeat. */
  private String plain(String name) {
    return plain.computeIfAbsent(name, any -> HIDDEN.matcher(any).replaceAll("$10x"));
  }

  /** False for native code, which async-profiler writes as methods of the descriptor ()L;. */
  private static boolean isJava(RecordedFrame frame, RecordedMethod method) {
    return frame.isJavaFrame() && !method.getDescriptor().equals("()L;");
  }

  private String name(RecordedFrame frame, RecordedMethod method) {
    String type = method.getType() == null ? "" : plain(method.getType().getName());
    if (isJava(frame, method)) return type + "." + method.getName() + method.getDescriptor();
    return type.isEmpty() ? method.getName() : type + "." + method.getName();
  }

  private void write() throws IOException {
    for (Map.Entry<String, long[]> stack : stacks.entrySet())
      out.write("stack\t" + stack.getValue()[0] + "\t" + stack.getKey() + "\n");
    out.write("frames\t" + frames + "\t" + withoutLine + "\n");
    out.write("timed\t" + timed + "\t" + periodNanos + "\n");
    out.write("lost\t" + lost + "\n");
    out.write("end\t" + events + "\n");
  }
}
