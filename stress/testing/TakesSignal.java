// SPDX-License-Identifier: Apache-2.0
import sun.misc.Signal;

/** Replaces the sampler's signal handler with its own. */
class TakesSignal {
  public static void main(String[] args) {
    Work.forMillis(500);
    Signal.handle(new Signal("PROF"), signal -> {});
    Work.forMillis(60_000);
  }
}
