// SPDX-License-Identifier: Apache-2.0
import java.util.concurrent.TimeUnit;

/** Starts processes, and checks that each does its work. */
class Forks {
  public static void main(String[] args) throws Exception {
    for (int i = 0; ; i++) {
      Process child = new ProcessBuilder("sh", "-c", "exit 7").start();
      if (!child.waitFor(20, TimeUnit.SECONDS) || child.exitValue() != 7) {
        System.err.println("process " + i + " went wrong");
        System.exit(1);
      }
      Work.forMillis(20);
    }
  }
}
