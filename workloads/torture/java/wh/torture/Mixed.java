// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** A round of each computing program, in turn. */
final class Mixed extends Worker {
  private final Worker[] workers;

  Mixed(Context context) {
    super(context);
    workers = new Worker[] {new Recursion(context), new Exceptions(context), new Deopt(context),
        new Osr(context), new Handles(context), new Interfaces(context), new Stubs(context),
        new HugeFrames(context), new Gc(context)};
  }

  @Override
  public void round() throws Throwable {
    for (Worker worker : workers) worker.round();
  }
}
