// SPDX-License-Identifier: Apache-2.0
package wh;

import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/** The tests redefine this class, with another number instead of each 41. */
final class Changing {
  static volatile boolean inside;
  static volatile boolean leave;

  private Changing() {}

  static int changed() {
    return 41;
  }

  static int kept() {
    return 7;
  }

  /** Runs until `leave`, in the version that was called. */
  static int stay() {
    inside = true;
    while (!leave) {
      Thread.onSpinWait();
    }
    inside = false;
    return 41;
  }

  static void runStay() {
    leave = false;
    stay();
  }

  /** Runs until `leave`, called by a class of the JDK, which the CDS archive has. */
  static void runInOptional() {
    leave = false;
    Optional.of(Changing.class).ifPresent(Changing::stayFor);
  }

  private static void stayFor(Object ignored) {
    stay();
  }

  /** The class file of a class of this package, or by its path "/java/util/Optional". */
  static byte[] bytesOf(String name) throws IOException {
    try (InputStream from = Changing.class.getResourceAsStream(name + ".class")) {
      return from.readAllBytes();
    }
  }
}
