// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** This JVM lacks what the program needs; the message says what, and how to fix it. */
final class Unavailable extends RuntimeException {
  private static final long serialVersionUID = 1;

  Unavailable(String message) {
    super(message);
  }
}
