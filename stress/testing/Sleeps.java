// SPDX-License-Identifier: Apache-2.0
/** Works for a moment, then sleeps endlessly. */
class Sleeps {
  public static void main(String[] args) throws InterruptedException {
    Work.forMillis(300);
    Thread.sleep(Long.MAX_VALUE);
  }
}
