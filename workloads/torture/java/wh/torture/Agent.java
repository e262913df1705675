// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.lang.instrument.Instrumentation;

/** Keeps the Instrumentation that -javaagent passes to premain. */
public final class Agent {
  private static volatile Instrumentation instrumentation;

  private Agent() {}

  public static void premain(String argument, Instrumentation given) {
    instrumentation = given;
  }

  static Instrumentation instrumentation() {
    Instrumentation given = instrumentation;
    if (given == null) {
      throw new Unavailable("It redefines classes, so it needs -javaagent:walkhammer-torture.jar");
    }
    return given;
  }
}
