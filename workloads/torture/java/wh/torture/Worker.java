// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** What one thread of a program does; made and used on that thread. */
interface Worker {
  /** Does and checks a piece of seeded work. Takes milliseconds, so that programs end in time. */
  void round() throws Throwable;

  /** Does all rounds of this thread. */
  default void work(Context context) throws Throwable {
    do {
      round();
    } while (context.goesOn());
  }
}
