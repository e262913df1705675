// SPDX-License-Identifier: Apache-2.0
package wh;

/** The scene is not available in this JVM; the message says why, in one sentence. */
final class Unavailable extends RuntimeException {
  private static final long serialVersionUID = 1;

  Unavailable(String reason) {
    super(reason, null, false, false);
  }
}
