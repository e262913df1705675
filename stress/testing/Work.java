// SPDX-License-Identifier: Apache-2.0
/** Keeps a thread busy. */
class Work {
  static long sink;

  static void forMillis(long millis) {
    long end = System.nanoTime() + millis * 1_000_000;
    while (System.nanoTime() < end) {
      sink += round(40);
    }
  }

  static long round(int depth) {
    return depth == 0 ? sink & 7 : round(depth - 1) + depth;
  }

  public static void main(String[] args) {
    forMillis(args.length == 0 ? Long.MAX_VALUE / 2_000_000 : Long.parseLong(args[0]));
  }
}
