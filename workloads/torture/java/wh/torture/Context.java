// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.SplittableRandom;

/** What a worker knows of its run, and its checks. Each thread has a context of its own. */
final class Context {
  final Options options;
  final int thread;
  final int scale;
  final SplittableRandom random;

  private final Run run;
  private volatile long rounds;

  Context(Run run, Options options, int thread) {
    this.run = run;
    this.options = options;
    this.thread = thread;
    scale = options.scale;
    random = new SplittableRandom(Mix.mix(options.seed) + thread);
  }

  String threadName() {
    return "torture-" + options.program + "-" + thread;
  }

  long rounds() {
    return rounds;
  }

  /** Counts a round that is done. True if another round is to follow. */
  boolean goesOn() {
    long done = rounds + 1;
    rounds = done;
    return done < options.rounds && run.goesOn();
  }

  /** Fills the array with random bytes. */
  void fill(byte[] bytes) {
    long bits = 0;
    for (int i = 0; i < bytes.length; i++) {
      bits = i % 8 == 0 ? random.nextLong() : bits >>> 8;
      bytes[i] = (byte) bits;
    }
  }

  boolean broken() {
    return options.broken;
  }

  /** The value; with --break a wrong one. Each program passes a result of its work through this. */
  long planted(long value) {
    return broken() ? value ^ 1 : value;
  }

  /** How long to wait for what a collector or another thread does in its own time. */
  long patienceMillis() {
    return broken() ? 500 : 60_000;
  }

  void same(String what, long expected, long actual) {
    if (expected != actual) throw new Mismatch(what + " is " + actual + ", not " + expected);
  }

  void same(String what, Object expected, Object actual) {
    if (!expected.equals(actual)) {
      throw new Mismatch(what + " is \"" + actual + "\", not \"" + expected + '"');
    }
  }

  void that(boolean holds, String otherwise) {
    if (!holds) throw new Mismatch(otherwise);
  }
}
