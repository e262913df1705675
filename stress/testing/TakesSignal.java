// SPDX-License-Identifier: Apache-2.0
import sun.misc.Signal;

/** Puts a handler of its own in the place of the sampler's. */
class TakesSignal {
  public static void main(String[] args) {
    Work.forMillis(500);
    Signal.handle(new Signal("PROF"), signal -> {});
    Work.forMillis(60_000);
  }
}
