// SPDX-License-Identifier: Apache-2.0
/** Works for a moment, then ends with the exit code in its argument. */
class Exits {
  public static void main(String[] args) {
    Work.forMillis(500);
    System.out.println("leaving with " + args[0]);
    System.exit(Integer.parseInt(args[0]));
  }
}
