// SPDX-License-Identifier: Apache-2.0
/** Does nothing for ever. */
class Sleeps {
  public static void main(String[] args) throws InterruptedException {
    Work.forMillis(300);
    Thread.sleep(Long.MAX_VALUE);
  }
}
