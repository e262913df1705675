// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** What one thread of a program does; made and used on that thread. */
abstract class Worker {
  final Context context;

  Worker(Context context) {
    this.context = context;
  }

  /** Does and checks a piece of seeded work. Takes milliseconds, so that programs end in time. */
  abstract void round() throws Throwable;

  /** Does all rounds of this thread. */
  void work() throws Throwable {
    do {
      round();
    } while (context.goesOn());
  }
}
