// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** A self check that failed; the message is a sentence without its full stop. */
final class Mismatch extends RuntimeException {
  private static final long serialVersionUID = 1;

  Mismatch(String message) {
    super(message);
  }
}
