// SPDX-License-Identifier: Apache-2.0
// Stands in for the class of this name in OpenJDK's test/lib: jtreg knows it by its name, and takes a
// test that throws it for skipped.
package jtreg;

public class SkippedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  public SkippedException(String reason) {
    super(reason);
  }
}
