// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Recordings of JFR: the program needs JDK 17. */
final class Recordings extends Worker {
  Recordings(Context context) {
    super(context);
    throw new Unavailable("It uses the API of JFR as of JDK 17");
  }

  @Override
  public void round() {
    throw new IllegalStateException();
  }
}
