// SPDX-License-Identifier: Apache-2.0
/** Ends with the exit code that it is given, after some work. */
class Exits {
  public static void main(String[] args) {
    Work.forMillis(500);
    System.out.println("leaving with " + args[0]);
    System.exit(Integer.parseInt(args[0]));
  }
}
